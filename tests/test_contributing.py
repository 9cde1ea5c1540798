"""CONTRIBUTING's recipes, followed in a copy of the package: two files add a puzzle, a planner or a family."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lazy_planner import PLANNER

ROOT = Path(__file__).parents[1]

PUZZLE = '''
"""Corridor: walk to its right end."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pixelplan.puzzles.level import Level


@dataclass(frozen=True)
class Corridor:
    """A corridor of cells. Walk to its right end."""

    length: int = 4
    """Cells."""

    random_start_in_play: ClassVar[bool] = False

    @property
    def looks(self) -> dict[str, int]:
        return {}

    @property
    def pixels(self) -> int:
        return 8 * self.length

    def make(self, number: int) -> Level:
        places = np.arange(self.length, dtype=np.int32)
        positions = np.stack([np.full(self.length, number % self.length), places], axis=1).astype(np.int32)
        right, left = np.minimum(places + 1, self.length - 1), np.maximum(places - 1, 0)
        return Level(
            number=number,
            background=np.zeros((self.pixels, self.pixels, 3), np.uint8),
            patches=np.full((self.length, 8, 8, 3), 200, np.uint8),
            corners=positions * 8,
            successors=np.stack([places, right, left, places, places], axis=1).astype(np.int32),
            positions=positions,
            start=0,
            goals=places == self.length - 1,
            goal=self.length - 1,
            starts=places[:-1],
        )
'''
FAMILY = '''
"""A vector of two layers."""

from dataclasses import dataclass
from typing import Literal

from pixelplan.families.vector import Vector, VectorConfig


@dataclass(frozen=True)
class ShortConfig(VectorConfig):
    """A small vector."""

    family: Literal["short"] = "short"
    dimensions: int = 8
    planes: int = 2
    width: int = 8
    updates: int = 2


class Short(Vector):
    """As its parent, under another name."""
'''
EXPERIMENT = '''
"""How many levels a file has: nothing is trained."""

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell
from pixelplan.experiments.tables import Report, comma_separated, markdown


def cells(selection: Selection) -> list[Cell]:
    """None."""
    return []


def report(selection: Selection, records: Records) -> Report:
    """A row for each puzzle."""
    rows = [[env, selection.test_levels] for env in selection.puzzles]
    header = ["puzzle", "levels"]
    return Report("# Counts\\n" + markdown(header, rows), comma_separated(header, rows), None)
'''
ADDITIONS = {
    "puzzle": (
        "puzzles",
        "puzzles/corridor.py",
        PUZZLE,
        (
            "__init__.py",
            r"^PUZZLES(.*?)= \{",
            r'from pixelplan.puzzles.corridor import Corridor\n\nPUZZLES\1= {"corridor": Corridor, ',
        ),
    ),
    "planner": (
        "planning",
        "planning/lazy.py",
        PLANNER,
        (
            "__init__.py",
            r"^PLANNERS = \{",
            "from pixelplan.planning.lazy import LazyConfig, lazy\n\n"
            'PLANNERS = {\n    "lazy": Planner(lazy, LazyConfig, "Lazy", "stops before the end"),',
        ),
    ),
    "family": (
        "families",
        "families/short.py",
        FAMILY,
        (
            "__init__.py",
            r"^OTHERS = \{",
            "from pixelplan.families.short import Short, ShortConfig\n\n"
            'OTHERS = {\n    "short": Family(Short, ShortConfig, fit_to_frames),',
        ),
    ),
    "experiment": (
        "experiments",
        "experiments/counts_table.py",
        EXPERIMENT,
        ("registry.py", r"^EXPERIMENTS = \{", 'EXPERIMENTS = {\n    "counts": "how many levels there are",'),
    ),
}
"""For each: the room to copy, the new file and its text, and the change of the room's table."""
SCRIPTS = {
    "puzzle": """
        import gymnasium, pixelplan
        from pixelplan.cli import main
        assert main(["evaluate", "--env", "corridor", "--model", "oracle", "--levels", "0:3"]) == 0
        assert main(["collect", "--env", "corridor", "--option", "length=5", "--levels", "0:2", "--out", "play"]) == 0
        env = gymnasium.make("pixelplan/Corridor-v0", level=1)
        env.reset()
        assert [env.step(1)[2] for _ in range(3)] == [False, False, True]
        assert gymnasium.make_vec("pixelplan/Corridor-v0", 3).reset()[0].shape == (3, 32, 32, 3)
    """,
    "planner": """
        from pixelplan.cli import main
        play = ["evaluate", "--env", "ice-slider", "--model", "oracle", "--levels", "0:3", "--planner", "lazy"]
        assert main([*play, "--naps", "0"]) == 0
        assert main(play) == 0
    """,
    "family": """
        import pixelplan
        from pixelplan.cli import main
        assert main(["collect", "--env", "ice-slider", "--levels", "0:4", "--episodes", "2", "--out", "play"]) == 0
        assert main(["train", "--data", "play", "--out", "model", "--family", "short", "--threads", "1"]) == 0
        assert pixelplan.load("model").config.family == "short"
    """,
    "experiment": """
        from pixelplan.cli import main
        assert main(["reproduce", "counts", "--results", "results", "--out", "out"]) == 0
    """,
}
SHOWN = {
    "puzzle": "solved 3 of 3",
    "planner": "solved 0 of 3",
    "family": "family short",
    "experiment": "| digit-jump | 2000:2100 |",
}


@pytest.mark.parametrize("what", ADDITIONS)
def test_two_files_are_enough(what: str, tmp_path: Path) -> None:
    room, new, text, (holder, pattern, replacement) = ADDITIONS[what]
    package = tmp_path / "pixelplan"
    package.mkdir()
    for part in (ROOT / "pixelplan").iterdir():
        if part.name == room:
            shutil.copytree(part, package / room, ignore=shutil.ignore_patterns("__pycache__"))
        elif part.name != "__pycache__":
            (package / part.name).symlink_to(part)
    table = (package / new).with_name(holder)
    changed, count = re.subn(pattern, replacement, table.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    table.write_text(changed)
    (package / new).write_text(text)
    code = "\n".join(line.removeprefix(" " * 8) for line in SCRIPTS[what].splitlines())
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert SHOWN[what] in done.stdout


def test_the_margin_loss_is_written_once() -> None:
    """Whoever changes it changes one file."""
    losses = [path for path in (ROOT / "pixelplan").rglob("*.py") if re.search(r"def margin\w*\(", path.read_text())]
    assert losses == [ROOT / "pixelplan/families/losses.py"]


def test_a_plan_has_the_same_fields_with_and_without_a_server() -> None:
    plan_view = pytest.importorskip("pixelplan.web.plan_view", reason="the page needs the extra web")
    views = (plan_view.PlanView, plan_view.GraphView, plan_view.Parting)
    script = (ROOT / "pixelplan/web/standalone/plan_view.js").read_text()
    filled = set(re.findall(r"^ {4,6}(\w+)[:,]", script, re.MULTILINE))
    assert filled == {field for view in views for field in view.model_fields}


def test_files_that_contributing_names_exist() -> None:
    rooms = "|".join(path.name for path in (ROOT / "pixelplan").iterdir() if path.is_dir())
    pattern = rf"`((?:pixelplan|tests|docs|{rooms})/[\w/]+\.\w+)`"
    named = set(re.findall(pattern, (ROOT / "CONTRIBUTING.md").read_text()))
    assert len(named) > 10
    for path in named:
        if "/my_" not in path:
            assert (ROOT / path).exists() or (ROOT / "pixelplan" / path).exists(), path
