"""The comparison of success rates from made-up records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pixelplan.experiments.paper_numbers import paper
from pixelplan.experiments.records import write_record
from pixelplan.experiments.selection import full_planner, papers_full, training_on
from pixelplan.experiments.specs import FORMAT, Cell, Oracle, fingerprint
from pixelplan.puzzles import PUZZLES
from tests.conftest import one_sentence, run_command


def write(path: Path, planner: str, success: float, seed: int = 0, **more: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"env": "digit-jump", "planner": planner, "model": None, "levels": [2000, 2100], "step_limit": 256}
    path.write_text(json.dumps({**record, "seed": seed, "success": success, **more}))


def record(cell: Cell, success: float, results: Path) -> None:
    write_record({"format": FORMAT, "fingerprint": fingerprint(cell), "result": {"success": success}}, cell, results)


def test_ours_stands_beside_the_papers(tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    for seed, success in enumerate((0.96, 0.98, 1.0)):
        record(Cell(training_on("digit-jump", 1000, seed, "spatial"), full_planner("2000:2100")), success, results)
    record(Cell(Oracle("digit-jump"), full_planner("2000:2100")), 1.0, results)
    record(Cell(training_on("digit-jump", 1000, 0, "spatial"), full_planner("10000:11000")), 0.1, results)
    record(Cell(training_on("digit-jump", 1000, 0, "ppgs"), papers_full("2000:2100")), 0.7, results)
    for steps, success in ((1000, 0.3), (64_000, 0.5), (2000, 0.4)):
        budget = {"environment_steps": steps, "seconds": 10.0, "steps_per_second": steps / 10}
        budget["curve"] = [[steps // 2, 0.1], [steps, 0.55]]
        write(results / "baselines" / f"ppo-{steps}.json", "ppo", success, budget=budget)
    write(results / "baselines" / "small.json", "ppo", 0.99, seed=1, options={"size": 4})
    write(results / "baselines" / "glamor.json", "glamor", 0.2, success_by_rule={"near": 0.2, "goal": 0.1})
    output = run_command("reproduce", "success", "--results", results, "--out", out).stdout
    lines = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in output.splitlines() if " | " in line}
    assert lines["pixelplan, full"][3:5] == ["0.980 (0.930–1.000, 3 seeds)", ""]
    assert lines["PPGS, full"][3:5] == ["0.700 (0.604–0.781, 1 seed)", "0.990"]
    assert lines["PPGS, full"][1:3] == ["", "0.970"], "what was not run is empty"
    assert lines["PPO"] and "| PPO | 0.500 (" not in output
    assert (
        "0.500 (0.404–0.596, 1 seed) | 0.475" in output
        and "| PPO | DigitJump | 64,000 | 10 | 6,400.0 | 0.55 | 50M steps |" in output
    )
    assert "| GLAMOR (near the goal counts) |  | 0.010 | 0.200 (0.133–0.289, 1 seed) | 0.133 |" in output
    assert "0.100 (0.055–0.174, 1 seed)" in output and "1.000 (0.963–1.000, 1 seed)" in output
    assert output.startswith((out / "success.md").read_text()) and "6 of 60 cells are recorded" in output
    assert (out / "success.png").read_bytes().startswith(b"\x89PNG") and b"<svg" in (out / "success.svg").read_bytes()
    table = (out / "success.csv").read_text().splitlines()
    assert any(line.startswith("full,digit-jump,,0.98,0.93") and line.endswith(",1.0,3,,,") for line in table)
    first = (out / "success.svg").read_bytes()
    run_command("reproduce", "success", "--results", results, "--out", out)
    assert (out / "success.svg").read_bytes() == first


def test_no_records_is_one_sentence(tmp_path: Path) -> None:
    words = ("reproduce", "success", "--results", tmp_path, "--out", tmp_path / "out")
    assert "no record" in one_sentence(run_command(*words, code=2))
    assert not (tmp_path / "out").exists()


def test_the_papers_numbers_are_whole() -> None:
    numbers = paper()
    columns = numbers["generalization"]["training_levels"]
    at = columns.index(1000)
    for puzzle, rows in numbers["generalization"]["rates"].items():
        assert puzzle in PUZZLES and all(len(row) == len(columns) == 13 for row in rows.values())
        for method, key in (("ppgs-full", "ppgs"), ("ppo", "ppo"), ("dreamer", "dreamer"), ("glamor", "glamor")):
            assert numbers["success"]["rates"][method][puzzle] == rows[key][at]
    assert len(numbers["ablation"]["rows"]) == 6 and set(numbers["on_policy"]["epochs"]) == {"20", "40"}
    assert all(table["source"] for table in numbers.values() if isinstance(table, dict))
