"""Iterative model improvement: the planner plays with the model so far, and training then also learns from that play.

It works for anything that can be opened as a `World`, as a planner needs nothing more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pixelplan.by_name.resolve import EnvLike, recorded_family
from pixelplan.data.by_level import rows_of_levels
from pixelplan.data.collect import never_reached, solved_frames
from pixelplan.data.dataset import TrajectoryWriter, open_trajectories
from pixelplan.envs.blindfold import Blindfold
from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.model.description import fingerprint
from pixelplan.model.train import train
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.train_data import RecordedPlay
from pixelplan.model.world_model import WorldModel
from pixelplan.planning import FullConfig, OneShotConfig
from pixelplan.training.player import Played, Player
from pixelplan.types import Goal, InputError, Model, Trajectories, World

OpenWorld = Callable[[int], tuple[World, Goal]]
"""The world of a level by its number, and its goal."""
PLANNER = FullConfig(OneShotConfig(node_limit=256, second_look=False))
"""A quick planner: early models are wrong in many ways, and a longer search in them does not help."""


@dataclass(frozen=True)
class Stage:
    """A pause in training, at which the model can be measured and more play recorded."""

    share: float
    """The share of training that is done at this pause."""
    episodes: int = 0
    """Episodes that the planner then plays in each level, for the rest of training to learn from."""


def open_worlds(family: Family) -> OpenWorld:
    """The levels of a family as worlds, each with the goal that it shows or, if it shows none, whatever solves it."""

    def open_level(number: int) -> tuple[World, Goal]:
        challenge = family.challenge(number, "level" if family.has_goals else "solved")
        return Blindfold(challenge.env, solved=challenge.solved), challenge.goal

    return open_level


def only_world(worlds: Sequence[Trajectories], init: Path | None) -> Trajectories:
    """The one world to train on in stages; an InputError if there are several, or if training starts from a model."""
    if len(worlds) != 1 or init is not None:
        raise InputError("--on-policy takes only one data set, and cannot be combined with --init")
    return worlds[0]


def open_data_world(data: Trajectories, env: EnvLike | None = None) -> OpenWorld:
    """The worlds in which play was recorded, if that is a puzzle or the user names the environment.

    An InputError if there is no environment to play in, or if it is not the recorded one.
    """
    family = recorded_family(data.manifest["env"], data.manifest["options"], env)
    if family is None:
        raise InputError(
            f"the data comes from {data.manifest['env']}, which a planner cannot open; name its environment with --env"
        )
    if family.shape != data.frames.shape[1:] or len(family.action_names) != data.manifest["actions"]:
        raise InputError(
            f"the data has frames of shape {data.frames.shape[1:]} and {data.manifest['actions']} actions; "
            f"{family.name} has {family.shape} and {len(family.action_names)}"
        )
    return open_worlds(family)


def on_policy_stages(parts: int, episodes: int, share: float) -> tuple[Stage, ...]:
    """Evenly spaced pauses within the first `share` of training; the planner plays at each."""
    if parts < 1 or episodes < 1 or not 0 < share < 1:
        raise InputError(
            f"{parts} on-policy parts of {episodes} episodes in the first {share} of training are impossible; there "
            "must be at least 1 part and 1 episode, and the share must be above 0 and below 1"
        )
    return tuple(Stage(share * part / parts, episodes) for part in range(1, parts + 1))


def stage_folder(out: Path, share: float) -> Path:
    """The folder of the model after this share of training."""
    return out if share == 1 else out / f"stage-{share:g}"


def train_in_stages(
    data: Trajectories,
    out: Path,
    config: TrainConfig,
    stages: Sequence[Stage],
    open_world: OpenWorld,
    validation: RecordedPlay | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> WorldModel:
    """Train into folder `out` with pauses on the way, each with its own model folder inside `out`.

    A run that is killed at any moment and resumed ends in the same model. `progress` is told how many levels the
    planner has played.
    """
    if not resume and out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty; if it holds this same training, continue with --resume")
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
    """Write into folder `out` the recorded play, plus equally long episodes by the planner in the same levels.

    What happens in a level depends only on the model, the seed and the level, so resuming writes the same bytes.
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
    """Write a level including the new play; `place` is its first frame, its end, and the rows of its episodes."""
    first, end, rows = place
    frames = np.concatenate([data.frames[first:end], *(episode.frames for episode in played)])
    solved = np.full(end - first, -1) if data.solved is None else data.solved[first:end]
    kept, number_of = distinct_frames(frames)
    offset = writer.frames_written
    old = data.episodes[rows] - first
    new = np.arange(end - first, len(frames)).reshape(len(played), -1)
    number = int(data.frame_level[first])
    goals = None if data.goals is None else data.goals[data.goal_level == number]
    writer.append(
        1,
        frames=frames[kept],
        frame_level=np.full(len(kept), number),
        episodes=number_of[np.concatenate([old, new])] + offset,
        actions=np.concatenate([data.actions[rows], np.stack([episode.actions for episode in played])]),
        episode_level=np.full(len(old) + len(new), number),
        solved=solved_frames(np.concatenate([solved, *(episode.solved for episode in played)]), number_of),
        **never_reached(goals, frames, number),
    )
