"""Iterative model improvement: the planner plays with what was learnt so far, and training goes on with that play, too.

Works for whatever can be opened as a `World`: a planner needs no more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pixelplan.data.collect import solved_frames
from pixelplan.data.dataset import TrajectoryWriter, open_trajectories
from pixelplan.data.identity import rows_of_levels
from pixelplan.envs.blindfold import Blindfold
from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.envs.resolve import EnvLike, recorded_family
from pixelplan.model.description import fingerprint
from pixelplan.model.train import train
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.model.worlds import Play
from pixelplan.planning import FullConfig, OneShotConfig
from pixelplan.training.player import Played, Player
from pixelplan.types import Goal, InputError, Model, Trajectories, World

OpenWorld = Callable[[int], tuple[World, Goal]]
"""The world of a level by its number, and its goal."""
PLANNER = FullConfig(OneShotConfig(node_limit=256, second_look=False))
"""A quick one: early models are wrong in many ways, and looking longer at what they say does not help."""


@dataclass(frozen=True)
class Stage:
    """A stop on the way through training, after which the model can be measured and more play recorded."""

    share: float
    """Of the whole training: where the stop is."""
    episodes: int = 0
    """Episodes that the planner then plays in each level, to be learnt from in what follows."""


def open_worlds(family: Family) -> OpenWorld:
    """The levels of a family as worlds, with the goal that they show or else whatever solves them."""

    def open_level(number: int) -> tuple[World, Goal]:
        challenge = family.challenge(number, "level" if family.has_goals else "solved")
        return Blindfold(challenge.env, solved=challenge.solved), challenge.goal

    return open_level


def only_world(worlds: Sequence[Trajectories], init: Path | None) -> Trajectories:
    """The one world that stages are of; an InputError if there are several, or if training begins with a model."""
    if len(worlds) != 1 or init is not None:
        raise InputError("the planner plays on the way (--on-policy) in one world only, and not together with --init")
    return worlds[0]


def open_data_world(data: Trajectories, env: EnvLike | None = None) -> OpenWorld:
    """The worlds in which play was recorded, where that is a puzzle or the user names the environment.

    An InputError where there is no environment to play in, or another one than the recorded.
    """
    family = recorded_family(data.manifest["env"], data.manifest["options"], env)
    if family is None:
        raise InputError(
            f"the data is of {data.manifest['env']}, in which a planner cannot play; name its environment with --env"
        )
    if family.shape != data.frames.shape[1:] or len(family.action_names) != data.manifest["actions"]:
        raise InputError(
            f"the data has frames of shape {data.frames.shape[1:]} and {data.manifest['actions']} actions; "
            f"{family.name} has {family.shape} and {len(family.action_names)}"
        )
    return open_worlds(family)


def on_policy_stages(parts: int, episodes: int, share: float) -> tuple[Stage, ...]:
    """Stops at equal distances within the first `share` of training; at each the planner plays."""
    if parts < 1 or episodes < 1 or not 0 < share < 1:
        raise InputError(
            f"{parts} parts of {episodes} episodes within {share} of training make no plan; there must be at least one "
            "of each, within a share between 0 and 1"
        )
    return tuple(Stage(share * part / parts, episodes) for part in range(1, parts + 1))


def stage_folder(out: Path, share: float) -> Path:
    """Where the model is that training had when a share of it was done."""
    return out if share == 1 else out / f"stage-{share:g}"


def train_in_stages(
    data: Trajectories,
    out: Path,
    config: TrainConfig,
    stages: Sequence[Stage],
    open_world: OpenWorld,
    validation: Play | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> WorldModel:
    """Train into folder `out` with stops on the way, each with a model folder of its own inside it.

    Killed at any moment and resumed, it gives the same model. `progress` is told of levels played by the planner.
    """
    if not resume and out.exists() and any(out.iterdir()):
        raise InputError(f"{out} already holds something; --resume goes on where it is this very training")
    config = dataclasses.replace(config, candidates=None)  # stages are shares of one family's training
    before: Path | None = None
    for number, stage in enumerate(stages):
        folder = stage_folder(out, stage.share)
        model = train(data, folder, config, validation, resume, until=stage.share, after=before)
        before = folder
        if stage.episodes:
            data = collect_with_planner(
                data,
                folder / "play",
                model,
                open_world,
                episodes=stage.episodes,
                seed=(config.seed, number),
                resume=resume,
                progress=progress,
            )
    return train(data, out, config, validation, resume, after=before)


def collect_with_planner(
    data: Trajectories,
    out: Path,
    model: Model,
    open_world: OpenWorld,
    *,
    episodes: int,
    seed: tuple[int, ...],
    config: FullConfig = PLANNER,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trajectories:
    """The recorded play and more of it, as long episodes in the same levels, chosen by the planner, in folder `out`.

    What happens in a level depends on the model, the seed and the level only, so that resuming gives the same bytes.
    """
    steps = data.actions.shape[1]
    before = {name: value for name, value in data.manifest.items() if name not in ("format", "counts", "sha256")}
    planned = {"episodes": episodes, "seed": list(seed), "planner": dataclasses.asdict(config)}
    request = {
        **before,
        "episodes": before.get("episodes", 0) + episodes,
        "planned": [*before.get("planned", []), {**planned, "onto": fingerprint(data)}],
    }
    with TrajectoryWriter(out, request, resume) as writer:
        if not writer.complete:
            levels = list(rows_of_levels(data))
            for place in levels[writer.levels_done :]:
                progress(writer.levels_done, len(levels))
                number = int(data.frame_level[place[0]])
                world, goal = open_world(number)
                random = np.random.default_rng([*seed, number])
                seen = np.asarray(data.frames[place[0] : place[1]])
                player = Player(model, world, goal, seen, config, random)
                _append(writer, data, place, [player.play(steps) for _ in range(episodes)])
            writer.finish(data.frames.shape[1:], steps)
            progress(len(levels), len(levels))
    return open_trajectories(out, verify=False)


def _append(
    writer: TrajectoryWriter,
    data: Trajectories,
    place: tuple[int, int, np.ndarray],
    played: list[Played],
) -> None:
    """Write a level (its first frame, the one behind its last, and its episodes' rows) with what was played in it."""
    first, end, rows = place
    frames = np.concatenate([data.frames[first:end], *(one.frames for one in played)])
    said = np.full(end - first, -1) if data.solved is None else data.solved[first:end]
    kept, number_of = distinct_frames(frames)
    offset = writer.frames_written
    old = data.episodes[rows] - first
    new = np.arange(end - first, len(frames)).reshape(len(played), -1)
    number = data.frame_level[first]
    writer.append(
        1,
        frames=frames[kept],
        frame_level=np.full(len(kept), number),
        episodes=number_of[np.concatenate([old, new])] + offset,
        actions=np.concatenate([data.actions[rows], np.stack([one.actions for one in played])]),
        episode_level=np.full(len(old) + len(new), number),
        solved=solved_frames(np.concatenate([said, *(one.solved for one in played)]), number_of),
    )
