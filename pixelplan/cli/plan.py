"""Commands that plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import OmitArgPrefixes, arg

from pixelplan.cli.names import WORLD
from pixelplan.envs.family import Goals
from pixelplan.envs.guard import STEP_SECONDS
from pixelplan.envs.noise_config import Noise
from pixelplan.planning import PLANNERS
from pixelplan.planning.planner import chosen_config, settings_of

if TYPE_CHECKING:
    PlannerName = str
    Settings = Any
else:
    PlannerName = Annotated[
        Literal[tuple(PLANNERS)],
        arg(help="; ".join(f"{name} {planner.about}" for name, planner in PLANNERS.items()) + "."),
    ]
    Settings = settings_of(PLANNERS.values())


@dataclass(frozen=True)
class Planning:
    """The planner, and what it plans with."""

    planner: PlannerName = "full"
    model: str | None = None
    """A folder written by train, the name of a shipped model, or oracle (the true rules); by default the shipped model
    of the puzzle."""
    heuristic: Path | None = None
    """A folder written by train-heuristic for this model; it guides --frontier best-first."""
    calibration: Path | None = None
    """A record of evaluate --planner one-shot with the same model and search on validation levels; it tells how likely
    plans are to succeed."""
    other_size: bool = False
    """Frames of your own environment, or pictures, show a larger or smaller board than the model was trained on, with
    the same number of pixels per cell; by default they are resized to its frames. (Puzzles know their own size.)"""
    config: Annotated[Settings, OmitArgPrefixes] = Settings()  # noqa: RUF009 (frozen)
    """The settings of the planners."""

    @property
    def keywords(self) -> dict[str, Any]:
        """What the functions that play levels take, with the chosen planner's own settings."""
        return {
            "planner": self.planner,
            "model": self.model,
            "heuristic": self.heuristic,
            "calibration": self.calibration,
            "other_size": self.other_size,
            "config": chosen_config(self.planner, PLANNERS[self.planner], self.config),
        }


def evaluate(
    *,
    env: Annotated[str, WORLD],
    levels: str = "2000:2100",
    planning: Annotated[Planning, OmitArgPrefixes] = Planning(),  # noqa: B008 (frozen)
    option: tuple[str, ...] = (),
    goals: Goals | None = None,
    seed: int = 0,
    workers: int = 1,
    json: str | None = None,
    resume: bool = False,
    step_seconds: float = STEP_SECONDS,
    disturbed: Annotated[Noise, OmitArgPrefixes] = Noise(),  # noqa: B008 (frozen)
) -> None:
    """Play many levels and report how many are solved.

    Example: pixelplan evaluate --env ice-slider --levels 1000:1100 --planner one-shot --json ice.json

    Args:
        levels: Level ranges A:B, B excluded, several with commas; at most 1,000,000 levels.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        goals: The goal that the level shows (level), whatever solves it by the model's goal test (solved), or a random
            reachable state (random); by default level if levels show a goal, else solved.
        seed: What happens in a level depends only on this and the level's number.
        workers: Processes that play at the same time.
        json: The record to write, or - to print it and nothing else. Finished levels are kept beside it.
        resume: Continue an interrupted evaluation, and replay levels that raised an exception.
        step_seconds: How long one call of your own environment may take before it counts as failed.
        disturbed: Visual noise.
    """
    import json as json_format

    from pixelplan.by_name.evaluate import evaluate as evaluate_levels
    from pixelplan.cli.options import parse_family, progress_bar
    from pixelplan.evaluation.run import record
    from pixelplan.reports.summaries import summarise_evaluation
    from pixelplan.types import InputError

    family = parse_family(env, option, None, disturbed, step_seconds)
    by_goal_test = goals == "solved" or (goals is None and not family.has_goals)
    with progress_bar("playing", "levels") as progress:
        result = evaluate_levels(
            family,
            levels,
            **planning.keywords,
            goals=goals,
            seed=seed,
            workers=workers,
            out=None if json in (None, "-") else Path(str(json)),
            resume=resume,
            progress=_after_warnings(planning.model, by_goal_test, progress),
        )
    print(json_format.dumps(record(result), ensure_ascii=False) if json == "-" else summarise_evaluation(result))
    raised = [episode for episode in result.episodes if episode.error is not None]
    if raised:
        raise InputError(f"{len(raised)} levels raised an exception, first level {raised[0].level}: {raised[0].error}")


def solve(
    *,
    env: Annotated[str | None, WORLD] = None,
    level: int | None = None,
    frame: Path | None = None,
    planning: Annotated[Planning, OmitArgPrefixes] = Planning(),  # noqa: B008 (frozen)
    option: tuple[str, ...] = (),
    goal: tuple[Path, ...] = (),
    goals: Goals | None = None,
    demonstration: tuple[int, ...] | None = None,
    seed: int = 0,
    out: Path | None = None,
    step_seconds: float = STEP_SECONDS,
    disturbed: Annotated[Noise, OmitArgPrefixes] = Noise(),  # noqa: B008 (frozen)
) -> None:
    """Play one level and show how; or, without an environment, plan from one picture to another.

    Example: pixelplan solve --env ice-slider --level 1042 --out solved.gif
    Example: pixelplan solve --frame now.png --goal wanted.png --model runs/own-model

    Args:
        level: The level's number.
        frame: A picture of the current state, as PNG with sides of at most 4096 pixels: the answer is a plan from
            there to the picture given as --goal.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        goal: A picture of the state to reach, any frame of the level as PNG; with several, any of them will do.
            Transparent pixels do not matter.
        goals: What to reach without a picture: the goal that the level shows (level), whatever solves it by the
            model's goal test (solved), or a random state.
        demonstration: Actions from the level's start, by number; the state they lead to is the goal.
        seed: Decides a planner's random choices.
        step_seconds: How long one call of your own environment may take before it counts as failed.
        out: A PNG (the path as arrows, with circles where the plan changed) or a GIF (frames beside the latent graph).
        disturbed: Visual noise.
    """
    from pixelplan.by_name.solve import solve as solve_level
    from pixelplan.cli.options import parse_family
    from pixelplan.exchange.picture_files import read_goal
    from pixelplan.reports.figures import write_figure
    from pixelplan.reports.summaries import story
    from pixelplan.types import InputError

    if frame is not None:
        _solve_pictures(
            frame,
            "solved" if goals == "solved" and not goal else goal,
            env,
            level,
            planning,
            seed,
        )
        return
    if env is None or level is None:
        raise InputError("there is nothing to solve; give --env and --level, or --frame, --goal and --model")
    if bool(goal) + (goals is not None) + (demonstration is not None) > 1:
        raise InputError(
            "the goal is a picture, a name or a demonstration; give one of --goal, --goals, --demonstration"
        )
    if out is not None and out.suffix.lower() not in (".png", ".gif"):
        raise InputError(f"{out} is neither a PNG nor a GIF; choose a name that ends in .png or .gif")
    family = parse_family(env, option, None, disturbed, step_seconds)
    wanted = demonstration if demonstration is not None else read_goal(goal) if goal else goals
    solved = solve_level(
        family,
        level,
        **planning.keywords,
        goal=wanted,
        seed=seed,
    )
    _repeat_warnings(planning.model, by_goal_test=goals == "solved" or (wanted is None and not family.has_goals))
    print(story(*solved))
    if out is not None:
        write_figure(*solved, out)


def _solve_pictures(
    frame: Path,
    goal: Sequence[Path] | Literal["solved"],
    env: str | None,
    level: int | None,
    planning: Planning,
    seed: int,
) -> None:
    """Plan from one picture to others, or to whatever solves the level."""
    from pixelplan.exchange.picture_files import read_frame, read_goal
    from pixelplan.exchange.picture_plan import plan_between, plan_story
    from pixelplan.types import Goal, InputError

    if not goal or planning.model is None or env is not None or level is not None:
        raise InputError("a plan from --frame needs --goal and --model, or --goals solved and --model, and no --env")
    wanted = Goal() if goal == "solved" else read_goal([Path(path) for path in goal])
    config = chosen_config("one-shot", PLANNERS["one-shot"], planning.config)
    now, heuristic = read_frame(frame), planning.heuristic
    plan = plan_between(planning.model, now, wanted, config, seed, heuristic, planning.other_size)
    print(plan_story(plan))


def _after_warnings(
    model: str | None, by_goal_test: bool, progress: Callable[[int, int], None]
) -> Callable[[int, int], None]:
    """`progress`, with the model's warnings printed first, as the levels may take minutes."""
    repeated = False

    def tell(done: int, total: int) -> None:
        nonlocal repeated
        if not repeated:
            _repeat_warnings(model, by_goal_test)
        repeated = True
        progress(done, total)

    return tell


def _repeat_warnings(model: str | None, by_goal_test: bool) -> None:
    """Repeat the warnings of a model's training, and those about its goal test if that decides what the goal is."""
    import sys

    from pixelplan.by_name.open_model import model_warnings

    for sentence in model_warnings(model, by_goal_test):
        print(f"warning: {sentence}", file=sys.stderr)


def demo(*, out: Path = Path("demo")) -> None:
    """Solve unseen levels of the three puzzles with the shipped models, beside the paper's figures.

    Args:
        out: The folder for pictures and GIFs.
    """
    from pixelplan.experiments.demo import demo as run_demo

    run_demo(out)
