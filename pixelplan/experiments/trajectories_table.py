"""Expert trajectories, frame by frame (the paper's appendix on environments)."""

from __future__ import annotations

from PIL import Image

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell
from pixelplan.experiments.tables import Report, comma_separated, markdown, picture_sheet
from pixelplan.puzzles import PUZZLES, Level, get_level, make_puzzle
from pixelplan.types import ACTIONS

FRAMES = 10
"""Frames shown of each puzzle, two rows of five as in the paper."""


def cells(selection: Selection) -> list[Cell]:
    """None: experts need no model."""
    return []


def report(selection: Selection, records: Records) -> Report:
    """The first test level of each puzzle that takes nine steps or more, with a shortest solution."""
    first = int(selection.test_levels.partition(":")[0])
    pictures, titles, rows = list[Image.Image](), list[str](), []
    for env in PUZZLES:
        level, solution = _expert(env, first)
        states = level.follow(solution)[:FRAMES]
        for step, state in enumerate(states):
            pictures.append(Image.fromarray(level.frame(state)))
            titles.append(f"{env} {level.number}" if step == 0 else f"{step}: {ACTIONS[solution[step - 1]]}")
        rows.append([env, str(level.number), str(len(solution)), " ".join(ACTIONS[action] for action in solution)])
    header = ["puzzle", "level", "steps", "actions"]
    lines = [
        "# Expert trajectories",
        "",
        f"A shortest solution of one level of each puzzle, by the true rules: the first {FRAMES} frames. Made by "
        "`pixelplan reproduce trajectories`.",
        "",
        "![Expert trajectories, frame by frame](trajectories.png)",
        "",
        markdown(header, rows),
    ]
    return Report("\n".join(lines), comma_separated(header, rows), picture_sheet(pictures, titles, FRAMES // 2))


def _expert(env: str, first: int) -> tuple[Level, tuple[int, ...]]:
    """The first level, from a number on, that takes at least nine steps, and a shortest solution."""
    while True:
        level = get_level(make_puzzle(env), first)
        solution = level.shortest_path(level.start)
        if solution is not None and len(solution) >= FRAMES - 1:
            return level, solution
        first += 1
