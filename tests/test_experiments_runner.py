"""Grids of cells as a user runs them, at a tiny budget: reused, interrupted, failing, from another version."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelplan.cli import main
from pixelplan.evaluation.stats import wilson
from pixelplan.experiments.check_records import agree
from pixelplan.experiments.records import find_record, record_path
from pixelplan.experiments.registry import EXPERIMENTS, experiment
from pixelplan.experiments.runner import jobs_of, locked
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Training, described, fingerprint
from pixelplan.experiments.tables import summarise
from pixelplan.families.position import Position
from pixelplan.files import write_json
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.optimizer import MuonConfig
from pixelplan.model.train_config import TrainConfig
from pixelplan.planning import PLANNERS
from tests.conftest import one_sentence, run_command

TINY = ("--preset", "tiny", "--test-levels", "2000:2002", "--seeds", "0")
CELL = Cell(training_on("digit-jump", 2, 0, "tiny"), full_planner("2000:2002"))


def places(folder: Path) -> tuple[str, ...]:
    """Options that keep everything in a folder."""
    return ("--results", f"{folder}/results", "--out", f"{folder}/out", "--runs", f"{folder}/runs")


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small grid that was run by the command."""
    folder = tmp_path_factory.mktemp("grid")
    words = ("reproduce", "generalisation", "--puzzles", "digit-jump", "--levels", "2", *TINY, *places(folder))
    output = run_command(*words, "--run")
    assert "done digit-jump, tiny, 2 levels" in output.stderr and "cells are recorded" in output.stdout
    return folder


def test_a_record_says_what_it_is_and_where_it_comes_from(grid: Path) -> None:
    record = find_record(CELL, grid / "results")
    assert record is not None and record["fingerprint"] == fingerprint(CELL)
    assert record["cell"]["model"]["config"]["seed"] == 0 and record["cell"]["measure"]["levels"] == "2000:2002"
    assert record["cell"]["model"]["play"]["levels"] == "0:2" and record["cell"]["model"]["validation"] is None
    assert record["machine"]["cores"] and record["version"] and "commit" in record
    assert record["model"]["validation_metrics"]["levels"] == 2, "fewer than ten levels calibrate on themselves"
    assert record["result"]["levels"] == 2 and 0 <= record["result"]["success"] <= 1
    assert record_path(CELL, grid / "results").stat().st_size < 10_000
    assert str(grid) not in json.dumps(record)


def test_a_finished_cell_is_reused_and_never_run_twice(grid: Path) -> None:
    words = ("reproduce", "generalisation", "--puzzles", "digit-jump", "--levels", "2", *TINY, *places(grid))
    before = {path: path.stat().st_mtime_ns for path in (grid / "results").rglob("*.json")}
    assert len(before) == 2
    output = run_command(*words, "--run", "--threads", "2")  # threads do not make another cell
    assert output.stderr == "" and {path: path.stat().st_mtime_ns for path in before} == before
    listed = run_command(*words, "--dry-run").stdout.splitlines()
    assert [line.split()[0] for line in listed[:2]] == ["done", "done"] and listed[2].startswith("2 of 2 cells done")
    # another experiment that needs the same model and one measure more finds both
    output = run_command(
        "reproduce", "ablation", "--puzzles", "digit-jump", "--levels", "2", *TINY, *places(grid), "--dry-run"
    )
    states = [line.split("  ")[0].strip() for line in output.stdout.splitlines()[:-1]]
    assert states == ["done", "to train", "to train", "to measure", "done", "to measure"]


def test_what_is_shown_needs_no_runs(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (
        "reproduce",
        "generalisation",
        *TINY,
        "--results",
        grid / "results",
        "--out",
        out,
        "--runs",
        tmp_path / "no",
    )
    output = run_command(*words).stdout
    assert "2 of 234 cells are recorded; `pixelplan reproduce generalisation --run`" in output
    assert {path.name for path in out.iterdir()} == {f"generalisation.{kind}" for kind in ("md", "csv", "png", "svg")}
    assert "(1 seed)" not in output and "1 seed)" in output and "| 0.25 |" in output, "the number of seeds; the paper's"
    first = (out / "generalisation.svg").read_bytes()
    run_command(*words)
    assert (out / "generalisation.svg").read_bytes() == first
    assert not (tmp_path / "no").exists()


def test_fingerprints_tell_cells_apart_and_nothing_else() -> None:
    training = CELL.model
    others = [
        dataclasses.replace(CELL, measure=one_shot_planner("2000:2002")),
        dataclasses.replace(CELL, measure=full_planner("2000:2002", lookup=False)),
        dataclasses.replace(CELL, measure=full_planner("2000:2003")),
        dataclasses.replace(CELL, model=training_on("digit-jump", 1, 0, "tiny")),
        dataclasses.replace(CELL, model=training_on("digit-jump", 2, 1, "tiny")),
        dataclasses.replace(CELL, model=training_on("digit-jump", 2, 0, "tiny", inverse=False)),
        dataclasses.replace(CELL, model=training_on("ice-slider", 3, 0, "tiny")),
    ]
    assert len({fingerprint(cell) for cell in (CELL, *others)}) == 8
    slower = dataclasses.replace(training, config=dataclasses.replace(training.config, threads=7, quiet=True))
    assert fingerprint(dataclasses.replace(CELL, model=slower)) == fingerprint(CELL)
    assert json.loads(json.dumps(described(CELL))) == described(CELL)
    jobs = jobs_of([CELL, *others, CELL])
    assert [len(job.cells) for job in jobs] == [4, 1, 1, 1, 1], "one job a model, no cell twice"


def test_settings_that_were_added_later_are_named_only_if_they_differ() -> None:
    usual, slower = TrainConfig(), TrainConfig(muon=MuonConfig(momentum=0.9))
    assert {"muon", "gradient_limit", "judging", "schedule"}.isdisjoint(described(usual))
    assert described(slower)["muon"]["momentum"] == 0.9


def test_every_experiment_declares_cells_that_differ() -> None:
    for name in EXPERIMENTS:
        cells = experiment(name).cells(Selection())
        assert len({fingerprint(cell) for cell in cells}) == len(cells), name
        assert len({record_path(cell, Path()) for cell in cells}) == len(cells), name
    assert len(experiment("generalisation").cells(Selection())) == 39 * 3 * 2


def test_another_default_or_version_is_another_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def edited(**changes: object) -> Cell:
        training = CELL.model
        assert isinstance(training, Training)
        return dataclasses.replace(
            CELL, model=dataclasses.replace(training, config=dataclasses.replace(training.config, **changes))
        )

    before = fingerprint(CELL)
    assert fingerprint(edited(learning_rate=1e-3)) != before and "versions" not in described(CELL.model)
    assert fingerprint(edited(objective=ObjectiveConfig(margin=0.9))) != before
    monkeypatch.setattr(Position, "version", 2)  # its losses were edited
    assert described(CELL.model)["versions"] == {"position": 2}
    later = fingerprint(CELL)
    monkeypatch.setitem(PLANNERS, "full", dataclasses.replace(PLANNERS["full"], version=2))
    assert len({before, later, fingerprint(CELL)}) == 3
    assert described(one_shot_planner("2000:2002")) == described(one_shot_planner("2000:2002"))
    assert "versions" not in described(one_shot_planner("2000:2002")), "the other planner is what it was"


def test_a_check_finds_a_record_that_was_changed(grid: Path, tmp_path: Path) -> None:
    words = ("reproduce", "generalisation", "--puzzles", "digit-jump", "--levels", "2", *TINY, "--check")
    kept = tmp_path / "results"
    shutil.copytree(grid / "results", kept)
    runs = ("--results", kept, "--runs", grid / "runs", "--out", tmp_path / "out")
    output = run_command(*words, *runs).stdout.splitlines()
    assert len(output) == 2 and all(line.startswith("agrees") for line in output)
    path = record_path(CELL, kept)
    record = json.loads(path.read_text())
    wrong = 0.0 if record["result"]["success"] else 1.0
    path.write_text(json.dumps({**record, "result": {**record["result"], "success": wrong}}))
    assert "damaged or edited" in one_sentence(run_command(*words, *runs, code=2))
    write_json(path, {**record, "result": {**record["result"], "success": wrong}})  # with a seal that fits
    output = run_command(*words, *runs, code=1).stdout.splitlines()
    assert sorted(line.split()[0] for line in output) == ["agrees", "differs"]
    assert not (tmp_path / "out").exists() and json.loads(path.read_text())["result"]["success"] == wrong
    nowhere = ("--results", kept, "--runs", tmp_path / "none")
    assert "none of the 2 models" in one_sentence(run_command(*words, *nowhere, code=2))
    nothing = ("--results", tmp_path / "empty", "--runs", grid / "runs")
    assert "no record of a success" in one_sentence(run_command(*words, *nothing, code=2))


def test_what_a_check_calls_agreement() -> None:
    recorded = {"levels": 100, "success": 0.9, "unsolved": list(range(10)), "interval": wilson(90, 100)}

    def result_of(solved: int) -> dict[str, object]:
        return {"levels": 100, "success": solved / 100, "interval": wilson(solved, 100)}

    assert agree(recorded, result_of(90)) and agree(recorded, result_of(93)) and not agree(recorded, result_of(70))
    assert not agree({**recorded, "success": 0.93}, result_of(93)), "ten levels are listed as unsolved"


def test_training_sets_are_those_of_the_design() -> None:
    levels = {count: training_on("ice-slider", count, 0, "spatial") for count in (1, 999, 1000, 2000, 10000)}
    assert levels[1].play.levels == "0:1" and levels[1].validation is None and levels[999].validation is None
    assert levels[1000].validation is not None and levels[1000].validation.levels == "1000:1200"
    assert levels[2000].play.levels == "0:1000,20000:21000" and levels[10000].count == 10000


def test_killed_grid_loses_only_the_running_cell(grid: Path, tmp_path: Path) -> None:
    words = ("reproduce", "generalisation", "--puzzles", "digit-jump", "--levels", "2,1", *TINY, *places(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelplan", *map(str, words), "--run"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 240
    cells = tmp_path / "results" / "cells"
    while len(list(cells.glob("*.json"))) < 1 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert kept
    run_command(*words, "--run")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list(cells.glob("*.json"))) == 4
    ours, theirs = find_record(CELL, tmp_path / "results"), find_record(CELL, grid / "results")
    assert ours is not None and theirs is not None and ours["model"]["threshold"] == theirs["model"]["threshold"]
    for path in cells.glob("*-2-levels-*.json"):
        other = json.loads((grid / "results" / "cells" / path.name).read_text())["result"]
        mine = json.loads(path.read_text())["result"]
        assert {**mine, "seconds_per_plan": 0} == {**other, "seconds_per_plan": 0}


def test_a_cell_that_fails_is_reported_and_the_others_continue(grid: Path, tmp_path: Path) -> None:
    words = ("reproduce", "generalisation", "--puzzles", "digit-jump", "--levels", "1,2", *TINY, *places(tmp_path))
    data = tmp_path / "runs" / "data"
    data.mkdir(parents=True)
    play = training_on("digit-jump", 1, 0, "tiny").play
    (data / f"digit-jump-{fingerprint(play)[:16]}").write_text("something else")
    output = run_command(*words, "--run", code=1)
    assert (
        output.stderr.count("FAILED digit-jump, tiny, 1 levels") == 2
        and "already holds something else" in output.stderr
    )
    assert output.stderr.strip().splitlines()[-1].startswith("pixelplan: 2 cells failed")
    assert "2 of 36 cells are recorded" in output.stdout


def test_bad_input_is_one_sentence(grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def sentence(*words: str | Path) -> str:
        assert main(["reproduce", *map(str, words)]) == 2
        return capsys.readouterr().err

    assert "no experiment 'sucess'" in one_sentence(run_command("reproduce", "sucess", code=2))
    assert "no puzzle" in sentence("success", "--puzzles", "chess")
    assert "whole numbers" in sentence("success", "--seeds", "one")
    assert "no preset" in sentence("success", "--preset", "huge")
    assert "at least 1" in sentence("success", "--levels", "0") and "at least 1" in sentence(
        "success", "--threads", "0"
    )
    results = tmp_path / "results"
    path = record_path(CELL, results)
    path.parent.mkdir(parents=True)
    record = find_record(CELL, grid / "results")
    words = ("generalisation", *TINY, "--results", results, "--out", tmp_path / "out")
    assert record is not None
    path.write_text(json.dumps({**record, "format": 99}))
    assert "record format 99" in sentence(*words)
    path.write_text(json.dumps({**record, "fingerprint": "0"}))
    assert "not the record of the cell" in sentence(*words)
    path.write_text("{")
    assert "not JSON" in sentence(*words)
    assert not (tmp_path / "out").exists()


def test_one_process_at_a_time_has_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path / "model", wait=False) as mine:
        assert mine
        with locked(tmp_path / "model", wait=False) as another:
            assert not another
    with locked(tmp_path / "model", wait=False) as again:
        assert again


def test_intervals_over_seeds() -> None:
    assert summarise([]) is None
    summary = summarise([0.9])
    assert summary is not None and summary.text() == "0.90 (0.83–0.94, 1 seed)"
    three = summarise([0.96, 0.98, 1.0])
    assert three is not None and three.text(3) == "0.980 (0.930–1.000, 3 seeds)"
    same = summarise([1.0, 1.0])
    assert same is not None and (same.low, same.high) == (1.0, 1.0)
