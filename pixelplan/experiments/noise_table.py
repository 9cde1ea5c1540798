"""Success behind visual noise, of planning in a latent space and of a search on images (not in the paper).

One model per puzzle is trained behind noise of one strength, and judged behind weaker and stronger noise as well.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelplan.envs.noise_config import Noise
from pixelplan.evaluation.stats import mean
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell, Evaluation, Play, Training, Variant
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    draw_curve,
    level_range,
    markdown,
    number,
    summarise_records,
    values,
)
from pixelplan.families.presets import preset
from pixelplan.planning import PLANNERS as ALL_PLANNERS
from pixelplan.planning import FullConfig
from pixelplan.puzzles import PUZZLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENVS = ("ice-slider", "digit-jump")
TRAINING_NOISE = 10.0
"""Standard deviation of the noise in training, in grey values."""
STRENGTHS = (None, 0.0, 5.0, TRAINING_NOISE, 20.0, 40.0, 80.0)
"""Standard deviations in judging, always with a distractor; None is neither noise nor distractor."""
LABELS = tuple("none" if strength is None else f"{strength:g}" for strength in STRENGTHS)
EPISODES = 5
"""Per level: every frame is new, and 1000 levels of 20 episodes would take 5 GB."""
PLANNERS = {"full": "pixelplan, full", "one-shot": "pixelplan, one-shot", "image-search": "GS on Images"}
"""The planners compared, and what the table calls them."""


def behind(strength: float | None) -> Variant | None:
    """Levels behind noise of this strength and one moving distractor; None is the usual levels."""
    return None if strength is None else Variant(noise=Noise(noise=strength, distractor=1))


def cells(selection: Selection) -> list[Cell]:
    """The strength of training first."""
    strengths = sorted(STRENGTHS, key=lambda strength: strength != TRAINING_NOISE)
    return [
        _cell(selection, env, seed, strength, planner)
        for env in ENVS
        if env in selection.puzzles
        for seed in selection.seeds
        for strength in strengths
        for planner in PLANNERS
        if seed in _seeds(selection, planner)
    ]


def _seeds(selection: Selection, planner: str) -> tuple[int, ...]:
    """The seeds that make a difference: a search on images learns nothing, so one is enough."""
    return selection.seeds if ALL_PLANNERS[planner].needs_model else selection.seeds[:1]


def _cell(selection: Selection, env: str, seed: int, strength: float | None, planner: str) -> Cell:
    count = (selection.levels or (1000,))[0]
    usual = preset(selection.preset)
    model = dataclasses.replace(usual.model, noisy=True)
    config = dataclasses.replace(usual, seed=seed, model=model)
    training = Training(
        Play(env, f"0:{count}", EPISODES, variant=behind(TRAINING_NOISE)),
        config,
        None if count < 1000 else Play(env, "1000:1100", EPISODES, variant=behind(TRAINING_NOISE)),
    )
    settings = ALL_PLANNERS[planner].config()
    if isinstance(settings, FullConfig):
        settings = dataclasses.replace(settings, likely_goal=0, likely_look=0)  # as it was when the table was recorded
    return Cell(training, Evaluation(planner, settings, selection.test_levels, variant=behind(strength)))


@dataclass(frozen=True)
class Outcome:
    """What a planner reached behind noise of one strength, over all seeds."""

    success: Summary
    steps: float | None
    """The mean number of steps to the goal; None if it is never reached."""


def outcome(selection: Selection, records: Records, env: str, strength: float | None, planner: str) -> Outcome | None:
    """From the records; None if there are none."""
    recorded = records.find_all(_cell(selection, env, seed, strength, planner) for seed in _seeds(selection, planner))
    success = summarise_records(recorded)
    steps = [record["result"]["steps"] for record in recorded if record["result"]["steps"] is not None]
    return None if success is None else Outcome(success, mean(steps))


def report(selection: Selection, records: Records) -> Report:
    """A table for each puzzle, and the curves."""
    count = (selection.levels or (1000,))[0]
    outcomes: dict[tuple[str, str, str], Outcome] = {}
    for env in ENVS:
        for strength, label in zip(STRENGTHS, LABELS, strict=True):
            for planner in PLANNERS:
                if (measured := outcome(selection, records, env, strength, planner)) is not None:
                    outcomes[env, label, planner] = measured
    titles = list(PLANNERS.values())
    lines = [
        "# Visual noise",
        "",
        "Every pixel of every frame has noise of the given standard deviation (grey values, 0 to 255), and a bright "
        "square, an eighth of the frame wide, moves over the frame. No two visits to a state look alike. In the row "
        "without noise there is no square either. "
        f"Share of levels {level_range(selection.test_levels)} solved: {INTERVALS}",
        "",
        f"One model per puzzle, trained with `--noisy` behind noise of {TRAINING_NOISE:g} on {count} levels, "
        f"{EPISODES} random episodes of 20 steps each. Goal frames are as noisy as any; what is solved is judged "
        "without the noise. GS on Images learns nothing and recognises a state only by its pixels: behind noise it "
        "recognises none. In these two puzzles many moves cannot be undone, so even without noise it solves hardly "
        "more levels than random play does ([success rates](success.md)); noise costs it steps. "
        "Steps are the mean over the solved levels. Made by `pixelplan reproduce noise` from the records "
        "in `results/`.",
        "",
        "![Solved unseen levels over the strength of noise](noise.png)",
        "",
    ]
    for env in ENVS:
        rows = []
        for label in LABELS:
            by_planner = [outcomes.get((env, label, planner)) for planner in PLANNERS]
            steps = [number(None if measured is None else measured.steps, 1) for measured in by_planner]
            successes = ["" if measured is None else measured.success.text() for measured in by_planner]
            rows.append([label, *successes, *steps])
        header = ["noise", *titles, *(f"steps, {title}" for title in titles)]
        lines += [f"## {PUZZLES[env].__name__}", "", markdown(header, rows), ""]
    lines_of_numbers = [[*key, *values(measured.success), measured.steps] for key, measured in outcomes.items()]
    columns = ["puzzle", "noise", "planner", "mean", "low", "high", "seeds", "steps"]
    return Report("\n".join(lines), comma_separated(columns, lines_of_numbers), _figure(outcomes))


def _figure(outcomes: dict[tuple[str, str, str], Outcome]) -> Figure:
    """A panel for each puzzle, with a curve for each planner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, len(ENVS), sharey=True)
    for axes, env in zip(panels, ENVS, strict=True):
        for (planner, title), colour in zip(PLANNERS.items(), ("tab:blue", "tab:cyan", "tab:orange"), strict=True):
            curve = [outcomes.get((env, label, planner)) for label in LABELS]
            successes = [None if measured is None else measured.success for measured in curve]
            draw_curve(axes, range(len(LABELS)), successes, color=colour, label=title)
        axes.axvline(STRENGTHS.index(TRAINING_NOISE), color="grey", linestyle=":", label="noise in training")
        axes.set_xticks(range(len(LABELS)), LABELS)
        axes.set(title=PUZZLES[env].__name__, xlabel="noise (standard deviation, grey values)", ylim=(-0.02, 1.05))
    panels[0].set_ylabel("solved")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return figure
