"""Plan from pixels through graph search.

Importing this registers `pixelplan/IceSlider-v0`, `pixelplan/DigitJump-v0` and `pixelplan/ProcgenMaze-v0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pixelplan.additions import announce
from pixelplan.by_name.resolve import EnvLike, open_family
from pixelplan.data.collect import collect as record_play
from pixelplan.data.dataset import open_trajectories
from pixelplan.exchange.imports import import_trajectories
from pixelplan.types import Goal, InputError, Trajectories, check_frame, for_frames
from pixelplan.worlds.gym_family import GymFamily

if TYPE_CHECKING:  # importing torch takes seconds, so functions that need it import it when called
    import numpy as np

    from pixelplan.envs.family import Challenge
    from pixelplan.evaluation.result import Result
    from pixelplan.model.world_model import WorldModel
    from pixelplan.planning.plan import Episode, Plan
    from pixelplan.types import Model

    Recorded = Trajectories | str | Path

__version__ = "0.1.0"

announce("families", "pixelplan.families")
announce("frontiers", "pixelplan.distance")

__all__ = [
    "Goal",
    "GymFamily",
    "InputError",
    "__version__",
    "collect",
    "evaluate",
    "import_trajectories",
    "load",
    "open_trajectories",
    "plan",
    "solve",
    "train",
]


def collect(env: EnvLike, levels: str, out: str | Path, **options: Any) -> Trajectories:
    """Record play in levels "A:B" into folder `out`, and open it; for options see `data.collect.collect`.

    `env` is a puzzle's name, a Gymnasium id, package.module:function, an environment, or a function that makes one.
    """
    return record_play(open_family(env), levels, out, **options)


def load(name: str | Path, size: tuple[int, int] | None = None) -> WorldModel:
    """A trained model: the name of a shipped one ("ice-slider", "digit-jump", "procgen-maze") or a folder.

    `size` is the height and width of your frames, if their boards are larger or smaller than those it was trained on.
    """
    from pixelplan.by_name.open_model import find_model
    from pixelplan.model.checkpoint import load_model

    model = load_model(find_model(name))
    return model if size is None else model.for_frames(*size)


def plan(
    model: Model | str | Path,
    frame: np.ndarray,
    goal: Goal | np.ndarray | list[np.ndarray] | Literal["solved"],
    *,
    mask: np.ndarray | None = None,
    **options: Any,
) -> Plan:
    """A plan from one frame [H,W,3] to another of the same level; for options see `OneShotConfig`.

    The model may also be named, as for `load`. The goal may also be any of several frames [G,H,W,3], or "solved":
    whatever the model's goal test accepts as solved. A mask [H,W] bool says which pixels of the goal matter. Frames of
    larger or smaller boards than the model was trained on are fine if its family allows it.
    """
    from pixelplan.planning import OneShotConfig, one_shot

    check_frame(frame, "the frame")
    opened = load(model) if isinstance(model, str | Path) else model
    return one_shot(for_frames(opened, frame.shape), frame, Goal.of(goal, mask), OneShotConfig(**options))


def evaluate(env: Any, levels: str, **options: Any) -> Result:
    """Play levels "A:B" with a planner and report the outcome; for options see `evaluation.run.evaluate`."""
    from pixelplan.by_name.evaluate import evaluate as run

    return run(env, levels, **options)


def train(
    data: Recorded | Sequence[Recorded],
    out: str | Path,
    preset: str = "auto",
    *,
    validation: Recorded | Sequence[Recorded] | None = None,
    init: str | Path | None = None,
    resume: bool = False,
    noisy: bool = False,
    on_policy: int = 0,
    on_policy_episodes: int = 5,
    on_policy_share: float = 0.375,
    env: EnvLike | None = None,
    **options: Any,
) -> WorldModel:
    """Train a model on recorded play into folder `out`, and return it; for other options see `TrainConfig`.

    Without validation data, a tenth of the levels is held out. `resume` continues an interrupted run, and `noisy` is
    for worlds with noisy pixels but deterministic rules.

    Several data sets train one model for all their worlds. With `init`, a model of the same family (its folder, or the
    name of a shipped one), training starts from that model's weights.

    With `on_policy`, training pauses that many times within its first `on_policy_share`. At each pause the planner
    plays `on_policy_episodes` episodes in every level of the data, and training then also learns from that play.
    Puzzles are opened by name; for your own environment, pass `env`.
    """
    from dataclasses import replace

    from pixelplan.by_name.open_model import find_model
    from pixelplan.families.presets import preset as find
    from pixelplan.model.race import train_best as run
    from pixelplan.training.on_policy import on_policy_stages, only_world, open_data_world, train_in_stages
    from pixelplan.training.rehearsal import rehearse

    def opened(recorded: Recorded | Sequence[Recorded]) -> tuple[Trajectories, ...]:
        several = [recorded] if isinstance(recorded, Trajectories | str | Path) else recorded
        return tuple(
            open_trajectories(data_set) if isinstance(data_set, str | Path) else data_set for data_set in several
        )

    config = replace(find("noisy" if noisy else preset), **options)
    worlds, others = opened(data), None if validation is None else opened(validation)
    begin = None if init is None else find_model(init)
    if on_policy:
        stages, play = on_policy_stages(on_policy, on_policy_episodes, on_policy_share), only_world(worlds, begin)
        model = train_in_stages(play, Path(out), config, stages, open_data_world(play, env), others, resume)
    else:
        model = run(worlds, out, config, others, resume, begin)
    rehearse(model, Path(out), worlds, others, config.judging)
    return model


def solve(env: Any, level: int, **options: Any) -> tuple[Challenge, Episode]:
    """Play one level towards its goal; return the level and the episode. For options see `by_name.solve.solve`."""
    from pixelplan.by_name.solve import solve as run

    return run(env, level, **options)
