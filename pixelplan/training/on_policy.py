"""Iterative model improvement: the planner plays with what was learnt so far, and training goes on with that play, too.

Works for whatever can be opened as a `World`: a planner needs no more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

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
from pixelplan.planning import FullConfig, OneShotConfig, full
from pixelplan.types import InputError, Model, Trajectories, World

OpenWorld = Callable[[int], tuple[World, np.ndarray | None]]
"""The world of a level by its number, and its goal frame [H,W,3] if it has one."""
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
    """The levels of a family as worlds; those of an environment that shows no goal have none."""

    def open_level(number: int) -> tuple[World, np.ndarray | None]:
        if not family.has_goals:
            return Blindfold(family.level(number), solved=lambda: False), None
        challenge = family.challenge(number)
        return Blindfold(challenge.env, solved=challenge.solved), challenge.goal_frame

    return open_level


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
    validation: Trajectories | None = None,
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
                world, goal_frame = open_world(number)
                random = np.random.default_rng([*seed, number])
                seen = np.asarray(data.frames[place[0] : place[1]])
                play = partial(play_on, _Familiar(model), world, goal_frame, seen, steps, config, random)
                _append(writer, data, place, [play() for _ in range(episodes)])
            writer.finish(
                {
                    "frames": data.frames.shape[1:],
                    "frame_level": (),
                    "episodes": (steps + 1,),
                    "actions": (steps,),
                    "episode_level": (),
                }
            )
            progress(len(levels), len(levels))
    return open_trajectories(out, verify=False)


def play_on(
    model: Model,
    world: World,
    goal_frame: np.ndarray | None,
    seen: np.ndarray,
    steps: int,
    config: FullConfig,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Frames [steps+1,H,W,3] and actions [steps] of one episode: to the goal, then to one seen frame [n,H,W,3] after
    the other, drawn at random. Where the planner knows nothing to do, it takes a random action."""
    frame, _ = world.reset()
    frames, actions = [frame], list[int]()
    goal = goal_frame
    while len(actions) < steps:
        if goal is not None:
            here = _Continued(world, frames[-1], goal is goal_frame)
            episode = full(model, here, goal, dataclasses.replace(config, step_limit=steps - len(actions)), random)
            frames += list(episode.frames[1:])
            actions += episode.actions
        if goal is not None and not episode.actions and len(actions) < steps:
            action = int(random.integers(world.actions))
            frames.append(world.step(action)[0])
            actions.append(action)
        goal = seen[random.integers(len(seen))]
    return np.stack(frames), np.array(actions, np.uint8)


class _Familiar:
    """A model that looks at each frame of a level once: play shows few of them again and again."""

    def __init__(self, model: Model) -> None:
        self.threshold, self.noisy = model.threshold, model.noisy
        self._model = model
        self._embeddings: dict[bytes, torch.Tensor] = {}
        self._contexts: dict[bytes, Any] = {}

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3]."""
        keys = [frame.tobytes() for frame in frames]
        for key, frame in zip(keys, frames, strict=True):
            if key not in self._embeddings:
                self._embeddings[key] = self._model.encode(frame[None])
        return torch.cat([self._embeddings[key] for key in keys])

    def context(self, frame: np.ndarray) -> Any:
        """What the model reads from a frame [H,W,3]."""
        key = frame.tobytes()
        if key not in self._contexts:
            self._contexts[key] = self._model.context(frame)
        return self._contexts[key]

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """As the model does."""
        return self._model.step(z, context)


class _Continued:
    """A world whose episode begins where the last one ended; only its own goal solves it."""

    def __init__(self, world: World, frame: np.ndarray, own_goal: bool) -> None:
        self.actions = world.actions
        self._world, self._frame, self._own_goal = world, frame, own_goal

    def reset(self) -> tuple[np.ndarray, bool]:
        return self._frame, False

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        frame, solved = self._world.step(action)
        return frame, solved and self._own_goal


def _append(
    writer: TrajectoryWriter,
    data: Trajectories,
    place: tuple[int, int, np.ndarray],
    played: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Write a level (its first frame, the one behind its last, and its episodes' rows) with what was played in it."""
    first, end, rows = place
    frames = np.concatenate([data.frames[first:end], *(frames for frames, _ in played)])
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
        actions=np.concatenate([data.actions[rows], np.stack([actions for _, actions in played])]),
        episode_level=np.full(len(old) + len(new), number),
    )
