"""README's Python and the tutorial's commands, run as a reader would; the shipped models on levels not tuned on."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import agreement_claims as claims
import make_agreement
import make_results
import pytest
import speed_tables

import pixelplan
from pixelplan.by_name.open_model import SHIPPED
from pixelplan.puzzles import PUZZLES
from tests.conftest import run_command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()


def test_python_example_solves_a_level() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    assert names["solved"] is True


def test_commands_work_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    commands = [line.split("#")[0] for line in TUTORIAL.splitlines() if line.startswith("    pixelplan ")]
    assert len(commands) >= 6
    for command in commands:
        words = shlex.split(command)[1:]
        smaller = {"0:1000": "0:30", "1000:1100": "1000:1004"}
        words = [smaller.get(word, word) for word in words]
        if words[0] == "train":
            words += ["--preset", "tiny"]
        if words[0] not in ("web", "demo"):
            run_command(*words)
    assert (tmp_path / "solved.gif").exists() and (tmp_path / "runs" / "ice-model" / "inspect.png").exists()


def test_shipped_models_solve_unseen_levels(name: str) -> None:
    for planner in ("one-shot", "full"):
        result = pixelplan.evaluate(name, "3100:3112", planner=planner)
        assert result.success >= 0.9, result.episodes


def test_shipped_models_are_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*.safetensors")) < 12e6


def test_numbers_are_those_of_the_records() -> None:
    pytest.importorskip("procgen", reason="trajectories show a maze")
    for path in make_results.FILLED:
        assert make_results.filled(path.read_text()) == path.read_text(), f"{path.name}: run make results"
    docs = ROOT / "docs"
    for name, report in make_results.reports():
        assert (docs / "results" / f"{name}.md").read_text() == report.markdown, f"{name}: run make results"
        assert (docs / "results" / f"{name}.csv").read_text() == report.csv, f"{name}: run make results"
        for kind in ("png", "svg") if report.figure else ():
            assert (docs / "results" / f"{name}.{kind}").exists()
    assert (docs / "agreement.md").read_text() == make_agreement.page(), "run make results"


def test_equal_numbers_are_no_agreement() -> None:
    whole, same, less = (
        claims.Rate(1.0, 0.96, 1.0),
        claims.Rate(0.99, 0.95, 1.0),
        claims.Rate(0.6, 0.5, 0.7),
    )
    assert claims.worth(whole, less) == "agrees" and claims.worth(whole, same) == claims.CEILING
    assert claims.worth(claims.Rate(0.62, 0.5, 0.7), less) == "differs", "there was room for a difference"
    verdicts, numbers = claims.claim([("DigitJump", "agrees", str(less)), ("ProcgenMaze", claims.CEILING, str(same))])
    assert verdicts == f"DigitJump: agrees; ProcgenMaze: {claims.CEILING}" and "0.60 (0.50–0.70)" in numbers
    assert claims.claim([]) == claims.NOT_MEASURED


def test_the_pages_load_is_reported_from_its_records() -> None:
    page = speed_tables.page
    assert page(None, None) == "No records yet."
    spread = {"count": 20, "median": 12.3, "most": 20.0, "worst": 31.0}
    alone: dict[str, object] = {"first_page": 4.0}
    for name in PUZZLES:
        alone |= {f"plan {name}": spread, f"first plan {name}": 99.0}
    load = {
        "clients": 50,
        "seconds": 60.0,
        "milliseconds_alone": alone,
        "milliseconds": {"move": spread, "run": spread},
        "memory_mb": [300.0, 310.0, 312.4],
        "errors": 2,
    }
    text = page(load, None)
    for words in ("IceSlider 12 ms", "at worst 31 ms", "40 requests, 2 errors", "300 MB at the beginning, 312 MB at"):
        assert words in text
    answers = {"200": 9000, "422": 997, "500": 3}
    fuzz = {"requests": 10000, "answers": answers, "not_as_documented": 1, "files_opened_elsewhere": 0}
    assert "10,000 generated requests, valid and not: 3 answers 5xx, 1 not as documented, 0 files" in page(None, fuzz)
    plan = {"ice-slider": {"median": 31.4, "worst": 80.0}}
    first = {"server": 1100, "folder": 940}
    budget = {"bytes_a_second": 1_000_000, "first_view_ms": first, "folder_bytes": 12_200_000, "plan_ms": plan}
    text = page(None, None, budget)
    assert "after 1.1 s" in text and "12 MB) after 0.9 s" in text and "in 31 ms" in text
