"""Every experiment through the command line, at a tiny budget."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pixelplan.by_name.resolve import open_family
from pixelplan.experiments import boards_table, failures_table, noise_table, paper_miniature_table
from pixelplan.experiments.records import write_record
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import FORMAT, described, fingerprint
from pixelplan.planning import PLANNERS
from tests.conftest import run_command
from tests.test_experiments_runner import places

TWO_LEVELS = ("--preset", "tiny", "--levels", "2", "--puzzles", "digit-jump", "--seeds", "0")


def records(folder: Path) -> list[dict]:
    """All records that a run left."""
    return [json.loads(path.read_text()) for path in sorted((folder / "results" / "cells").glob("*.json"))]


def shown(folder: Path, name: str, *kinds: str) -> str:
    """The table that a run wrote; all its files are there."""
    assert all((folder / "out" / f"{name}.{kind}").stat().st_size > 20 for kind in ("md", *kinds))
    return (folder / "out" / f"{name}.md").read_text()


def test_leaves_stay_few_with_reidentification(tmp_path: Path) -> None:
    pytest.importorskip("procgen")
    run_command("reproduce", "fringe", "--run", "--test-levels", "3000:3002", *places(tmp_path))
    results = {
        record["cell"]["measure"]["config"]["reidentification"]: record["result"] for record in records(tmp_path)
    }
    assert len(results[True]["leaves"]) == len(results[False]["leaves"]) == 2
    assert results[False]["leaves"][0][:5] == [1, 5, 25, 125, 256] and max(results[True]["leaves"][0]) < 20
    text = shown(tmp_path, "fringe", "csv", "png", "svg")
    assert "| 3 | " in text and "125.0 ± 0.0" in text and "1 seed" in text


def test_failures_are_pictures_of_what_happened(tmp_path: Path) -> None:
    words = ("--preset", "tiny", "--levels", "2", "--puzzles", "digit-jump", "--test-levels", "2000:2040")
    run_command("reproduce", "failures", "--run", *words, *places(tmp_path))
    (record,) = records(tmp_path)
    result = record["result"]
    assert result["failed_by_one_shot"] >= len(result["found"]) > 0, "a tiny model fails a lot"
    for example in result["found"]:
        level = failures_table.get_level(failures_table.make_puzzle("digit-jump"), example["level"])
        ends = {name: level.follow(example[name])[-1] for name in ("one_shot", "full")}
        assert not level.goals[ends["one_shot"]] and level.goals[ends["full"]] and len(example["full"]) <= 40
        assert example["replanned_at"] == sorted(example["replanned_at"]) and example["replanned_at"][-1] < len(
            example["full"]
        )
    assert "failures.png" in shown(tmp_path, "failures", "csv", "png", "svg")


def test_experts_need_no_records(tmp_path: Path) -> None:
    pytest.importorskip("procgen")
    run_command("reproduce", "trajectories", "--run", *places(tmp_path))
    text = shown(tmp_path, "trajectories", "csv", "png", "svg")
    assert "| ice-slider | 2000 | " in text, "the first test level takes nine steps or more"
    assert not (tmp_path / "runs").exists()


def test_noise_is_added_in_training_and_judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("full", "image-search"):
        short = partial(PLANNERS[name].config, step_limit=5)
        monkeypatch.setitem(noise_table.ALL_PLANNERS, name, replace(PLANNERS[name], config=short))
    words = (*TWO_LEVELS, "--test-levels", "2000:2001")
    run_command("reproduce", "noise", "--run", *words, *places(tmp_path))
    recorded = records(tmp_path)
    assert len(recorded) == 21 and len(list((tmp_path / "runs" / "models").glob("digit-jump-*"))) == 1
    (model,) = (tmp_path / "runs" / "models").glob("digit-jump-*")
    trained = json.loads((model / "config.json").read_text())
    assert trained["model"]["noisy"] and trained["data"]["options"]["visual_noise"]["noise"] == 10
    variants = [record["cell"]["measure"].get("variant") for record in recorded]
    assert variants.count(None) == 3, "each planner is judged without noise as well"
    assert {variant["noise"]["noise"] for variant in variants if variant is not None} == {0, 5, 10, 20, 40, 80}
    text = shown(tmp_path, "noise", "csv", "png", "svg")
    assert "| 40 | " in text and text.count("1 seed)") == 21


def test_larger_boards_are_larger(tmp_path: Path) -> None:
    selection = Selection(seeds=(0,))
    plays = [cell.model.play for cell in boards_table.cells(selection)]  # type: ignore[union-attr]
    sizes = {play.variant: open_family(play.family).shape for play in plays}
    assert sorted(sizes.values()) == [(64, 64, 3), (128, 128, 3)]
    small, _, large, _ = boards_table.cells(selection)
    assert "16, pixels 128" in large.name and "pixels" not in small.name
    assert "variant" not in described(small.model)["play"], "records from before there were variants are found"
    run_command("reproduce", "boards", "--dry-run", *places(tmp_path))


def test_the_miniature_stands_beside_pixelplan(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for cell in paper_miniature_table.cells(Selection(puzzles=("ice-slider",), seeds=(0, 1))):
        success = 0.9 if "paper" in cell.model.name else 1.0
        kept = {"format": FORMAT, "fingerprint": fingerprint(cell), "result": {"success": success}}
        write_record({**kept, "model": {"learning": [[100, 0.4], [200, success]]}}, cell, results)
    output = run_command("reproduce", "paper-miniature", *places(tmp_path)).stdout
    shown(tmp_path, "paper-miniature", "csv", "png", "svg")
    assert "| PPGS, full | 0.90 (0.90–0.90, 2 seeds) |  |" in output and "## Cost" not in output
    assert "| pixelplan, one-shot | 1.00 (1.00–1.00, 2 seeds)" in output and "22 of 66 cells are recorded" in output
    curves = (tmp_path / "out" / "paper-miniature.svg").read_text()
    assert "PPGS without inverse model" in curves
    update = {"seconds_an_update": 1.5, "updates": 100, "hours": 48.0}
    cost = {"full size": update, "miniature": update, "machine": {"processor": "an old one"}}
    (results / "benchmark-paper-update.json").write_text(json.dumps(cost))
    output = run_command("reproduce", "paper-miniature", *places(tmp_path)).stdout
    assert "takes 1.5 s on one core (an old one), and 100 steps would take 2 days" in output
    listed = run_command("reproduce", "paper-miniature", "--full-size", "--dry-run", *places(tmp_path)).stdout
    assert "procgen-maze, paper, 1000 levels" in listed and "size 6" not in listed and "0 of 99 cells" in listed


@pytest.mark.slow
def test_ablations_share_models(tmp_path: Path) -> None:
    words = (*TWO_LEVELS, "--test-levels", "2000:2002")
    output = run_command("reproduce", "ablation", "--run", *words, *places(tmp_path))
    assert output.stderr.count(" of 3: digit-jump") == 3
    recorded = records(tmp_path)
    assert len(recorded) == 6 and len({record["cell"]["model"]["config"]["preset"] for record in recorded}) == 2
    assert len(list((tmp_path / "runs" / "models").glob("digit-jump-*"))) == 3, "three models, six cells"
    assert "| without inverse model | 0." in shown(tmp_path, "ablation", "csv", "png", "svg")


@pytest.mark.slow
def test_half_of_training_and_own_play(tmp_path: Path) -> None:
    words = ("--preset", "tiny", "--levels", "3", "--test-levels", "2000:2002", "--seeds", "0")
    run_command("reproduce", "on-policy", "--run", *words, *places(tmp_path))
    recorded = records(tmp_path)
    assert len(recorded) == 6 and {record["cell"]["share"] for record in recorded} == {0.5, 1.0}
    models = tmp_path / "runs" / "models"
    played = sorted(path.parent.name for path in models.glob("*/stage-*/play"))
    assert played == ["stage-0.125", "stage-0.25", "stage-0.375"]
    text = shown(tmp_path, "on-policy", "csv", "png", "svg")
    assert "| half | " in text and "0.78 ± 0.07" in text and text.count("1 seed)") == 6
