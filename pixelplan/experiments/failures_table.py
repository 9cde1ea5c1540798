"""Levels that one-shot planning fails and the full planner solves, as pictures (the paper's appendix)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell
from pixelplan.experiments.tables import Report, comma_separated, level_range, markdown, picture_sheet
from pixelplan.files import level_numbers, parse_levels
from pixelplan.model.checkpoint import load_model
from pixelplan.planning import full
from pixelplan.planning.one_shot import play_one_shot
from pixelplan.planning.plan import Episode
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.table_family import blindfolded
from pixelplan.reports.pictures import centres, draw_way

TRAINING_LEVELS = {"ice-slider": 5, "digit-jump": 10, "procgen-maze": 10}
"""Training levels of the models: those trained on 1000 fail nowhere."""
FAILURES_SHOWN = 2
"""Levels shown of each puzzle."""
SCALE = 4


@dataclass(frozen=True)
class Failures:
    """The first levels that one-shot fails and the full planner solves, with what each of them did there."""

    levels: str
    wanted: int = FAILURES_SHOWN

    @property
    def name(self) -> str:
        """A name for people."""
        return f"failures of one-shot on {self.levels}"

    def take(self, env: str, model: Path | None, out: Path) -> dict[str, Any]:
        """Play levels until enough failures are found; returns how many were played, and the actions in those found."""
        assert model is not None  # true rules never fail
        puzzle, opened = make_puzzle(env), load_model(model)
        examples: list[dict[str, Any]] = []
        played = failed = 0
        for number in level_numbers(parse_levels(self.levels)):
            played += 1
            level = get_level(puzzle, number)
            goal_frame = level.frame(level.goal)
            random = np.random.default_rng([0, number])  # as an evaluation with seed 0 draws
            one_shot = play_one_shot(opened, blindfolded(puzzle, level), goal_frame, random=random)
            if one_shot.solved:
                continue
            failed += 1
            random = np.random.default_rng([0, number])
            corrected = full(opened, blindfolded(puzzle, level), goal_frame, random=random)
            if corrected.solved and not too_long(corrected):
                steps = {"one_shot": list(one_shot.actions), "full": list(corrected.actions)}
                examples.append({"level": number, **steps, "replanned_at": list(corrected.planned_at[1:])})
            if len(examples) == self.wanted:
                break
        return {"played": played, "failed_by_one_shot": failed, "found": examples}


def too_long(episode: Episode) -> bool:
    """Whether an episode has too many steps for a picture to show anything."""
    return len(episode.actions) > 40


def cells(selection: Selection) -> list[Cell]:
    """One per puzzle."""
    return [_cell(selection, env) for env in selection.puzzles]


def _cell(selection: Selection, env: str) -> Cell:
    levels = Failures(selection.test_levels)
    return Cell(training_on(env, _count(selection, env), 0, selection.preset), levels)


def _count(selection: Selection, env: str) -> int:
    return (selection.levels or (TRAINING_LEVELS[env],))[0]


def report(selection: Selection, records: Records) -> Report:
    """The pictures on a sheet, and what was done."""
    pictures, titles, rows, table = list[Image.Image](), list[str](), [], []
    for env in PUZZLES:
        record = records.find(_cell(selection, env))
        if record is None:
            continue
        result = record["result"]
        trained = f"trained on {_count(selection, env)} levels"
        counts = [str(result["failed_by_one_shot"]), str(result["played"])]
        levels = ", ".join(str(example["level"]) for example in result["found"])
        usual = records.find(Cell(training_on(env, 1000, 0, selection.preset), one_shot_planner(selection.test_levels)))
        failed = "" if usual is None else str(len(usual["result"]["unsolved"]))
        table.append([PUZZLES[env].__name__, trained, *counts, levels, failed])
        for example in result["found"]:
            for planner, circles in (("one_shot", []), ("full", example["replanned_at"])):
                pictures.append(picture(env, example["level"], example[planner], circles))
                titles.append(f"{env} {example['level']}: {planner.replace('_', '-')}, {len(example[planner])} steps")
            lengths = [len(example[key]) for key in ("one_shot", "full", "replanned_at")]
            rows.append([env, example["level"], *lengths])
    lines = [
        "# Where one-shot planning fails",
        "",
        f"The first {FAILURES_SHOWN} of levels {level_range(selection.test_levels)} in which one-shot planning fails "
        "and the full planner succeeds (in at most 40 steps, so that the pictures stay readable); 1 seed. A circle "
        "shows where the full planner made a new plan. The models were trained on few levels, because those trained on "
        "1000 hardly ever fail (last column, over all these levels). Made by `pixelplan reproduce failures` from the "
        "records in `results/`.",
        "",
        *(["![One-shot plans that fail, each next to the full planner's way](failures.png)", ""] if pictures else []),
        markdown(["", "model", "failed by one-shot", "of levels played", "shown", "failed after 1000 levels"], table),
    ]
    header = ["puzzle", "level", "one_shot_steps", "full_steps", "replans"]
    return Report("\n".join(lines), comma_separated(header, rows), picture_sheet(pictures, titles, 2 * FAILURES_SHOWN))


def picture(env: str, number: int, actions: list[int], circles: list[int]) -> Image.Image:
    """The first frame of a level with the path that actions take, and circles at some of its steps."""
    level = get_level(make_puzzle(env), number)
    way = centres(level, level.follow(actions))
    return draw_way(level.frame(level.start), way, level.patches.shape[1], circles, SCALE)
