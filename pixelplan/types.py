"""What all rooms share: play, goals, and the protocols of models, distances and worlds.

Shapes: N frames or embeddings, H × W pixels, d latent dimensions, A actions, E episodes of T steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:  # torch takes seconds to import, and levels and trajectories do not need it
    import torch


class InputError(Exception):
    """Something the user asked for cannot be done; the message is one sentence that says what would be right.

    The command line prints it and exits with code 2. (It is not a ValueError because the command-line parser would
    catch that and add words of its own.)
    """


ADDED_LATER = {"later": True}
"""Marks fields that earlier versions did not have. A record without such a field stands for its default, or for the
value that the mark names as `before`."""
ACTIONS = ("up", "right", "left", "down", "no-op")
"""The actions of the three puzzles, by number."""
MOST_ACTIONS = 256
"""The most actions that can be searched."""


def values_before(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that were added later, each with the value that older records stand for."""
    later = [field for field in dataclasses.fields(kind) if "later" in field.metadata]
    return {field.name: field.metadata.get("before", field.default) for field in later}


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded play: distinct frames stored once, and episodes as indices into them."""

    frames: np.ndarray
    """[F,H,W,3] uint8; the frames of a level are contiguous."""
    frame_level: np.ndarray
    """[F] int64, the level each frame belongs to."""
    episodes: np.ndarray
    """[E,T+1] int32, indices into frames."""
    actions: np.ndarray
    """[E,T] uint8."""
    episode_level: np.ndarray
    """[E] int64."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """What made the data: puzzle and options, levels, seed, counts, checksums."""
    solved: np.ndarray | None = None
    """[F] int8, whether each frame solves its level: 1 yes, 0 no, -1 unknown; None if unknown for all."""
    goals: np.ndarray | None = None
    """[G,H,W,3] uint8, pictures of goals that were never reached in play; None if there are none."""
    goal_level: np.ndarray | None = None
    """[G] int64, the level each goal belongs to."""


@dataclass(frozen=True, eq=False)
class Goal:
    """What to reach: any one of some pictures, in the parts that matter, or whatever solves the level."""

    frames: np.ndarray | None = None
    """[G,H,W,3] uint8, any of which will do; None if the goal is whatever solves the level by the model's goal test."""
    masks: np.ndarray | None = None
    """[G,H,W] bool, which pixels of each frame matter; None if all do."""

    def __post_init__(self) -> None:
        if self.frames is None:
            if self.masks is not None:
                raise InputError("a mask says which pixels of a goal frame matter; there is no goal frame")
            return
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or self.frames.dtype != np.uint8 or not len(self.frames):
            raise InputError(f"the goal frame is {describe_value(self.frames)}; it must be uint8 [height, width, 3]")
        if self.masks is None:
            return
        if self.masks.dtype != bool or self.masks.shape != self.frames.shape[:3]:
            raise InputError(
                f"the goal's mask is {describe_value(self.masks)}; it must be bool with the goal frame's shape "
                f"{list(self.frames.shape[1:3])}"
            )
        if not self.masks.any(axis=(1, 2)).all():
            raise InputError("by its mask, no pixel of the goal frame matters, so every state would be the goal")

    @classmethod
    def of(cls, wanted: Any, mask: np.ndarray | None = None) -> Goal:
        """A goal from a frame [H,W,3] or several [G,H,W,3], optionally with a mask [H,W] or [G,H,W] of what matters;
        from "solved"; or from a goal. Several frames may also be in a list."""
        if isinstance(wanted, Goal):
            if mask is not None:
                raise InputError("a mask belongs to a goal frame; a Goal has its own masks: Goal.of(frame, mask)")
            return wanted
        if isinstance(wanted, str) and wanted == "solved":
            return cls() if mask is None else cls(None, np.asarray(mask))
        if isinstance(wanted, list) and wanted:
            for frame in wanted:
                check_frame(frame, "the goal frame")
            if len({frame.shape for frame in wanted}) > 1:
                raise InputError("the goal frames differ in size; they must be equally large")
            wanted = np.stack(wanted)
        if not isinstance(wanted, np.ndarray):
            raise InputError(f"the goal frame is {describe_value(wanted)}; it must be uint8 [height, width, 3]")
        frames = wanted[None] if wanted.ndim == 3 else wanted
        if mask is None:
            return cls(frames)
        mask = np.asarray(mask)
        return cls(frames, mask if mask.ndim == 3 else np.broadcast_to(mask, (len(frames), *mask.shape)))

    @property
    def picture(self) -> np.ndarray | None:
        """The first frame [H,W,3], to show people; None if there is none."""
        return None if self.frames is None else self.frames[0]

    def shown_by(self, frame: np.ndarray) -> bool:
        """Whether a frame [H,W,3] equals one of the goal's frames in every pixel that matters."""
        if self.frames is None:
            return False
        if self.masks is None:
            return any(np.array_equal(frame, goal) for goal in self.frames)
        masked = zip(self.frames, self.masks, strict=True)
        return any(np.array_equal(frame[mask], goal[mask]) for goal, mask in masked)

    def check_size(self, shape: tuple[int, ...], what: str) -> None:
        """An InputError unless the goal's frames have this shape [H,W,3], which is that of `what`."""
        if self.picture is not None and self.picture.shape != shape:
            sides = f"{self.picture.shape[1]} × {self.picture.shape[0]}"
            raise InputError(
                f"the goal frame is {sides} pixels and {what} {shape[1]} × {shape[0]}; they must be equally large"
            )

    def completed(self, frame: np.ndarray) -> np.ndarray:
        """The goal's frames [G,H,W,3], with the pixels that do not matter taken from a frame [H,W,3]."""
        assert self.frames is not None
        return self.frames if self.masks is None else np.where(self.masks[..., None], self.frames, frame)


class GoalTest(Protocol):
    """Says which states solve their level, as learned from recorded play."""

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """Doubts [N] that states z [N,d] are solved: below 1 a state counts as solved, and lower is surer."""


class Model(Protocol):
    """A world model as a planner sees it.

    It may also have `discrete` (bool): every embedding is made of zeros and ones, and equal ones are the same state;
    `distance` (a `Distance`) and `goal_test` (a `GoalTest`), learned for it; `matching(goal)`, the embeddings [G,d] of
    all states that show a `Goal` with masks, if it knows them; and `looks` [d], how much a change of each number of an
    embedding changes its picture.
    """

    threshold: float
    """The distance under which two embeddings are the same state."""
    noisy: bool
    """Whether frames of one state may differ, so that only embeddings tell states apart."""

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3] uint8."""

    def context(self, frame: np.ndarray) -> Any:
        """What `step` needs to know about the level, from one of its frames [H,W,3]."""

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The embeddings [N,A,d] after each action in each of z [N,d]."""


class Distance(Protocol):
    """Says how far states are from a goal; a search that trusts it looks at fewer of them."""

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """The approximate steps [N] from each of z [N,d] to the nearest of goals [G,d]."""


class Guide(Distance, Protocol):
    """A distance that also says which actions are promising."""

    def look(self, z: torch.Tensor, goals: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The steps [N] of a `Distance`, and the log-probabilities [N,A] that each action is the best one there."""


def goal_test_of(model: Model) -> GoalTest | None:
    """A model's goal test; None if it has none."""
    test: GoalTest | None = getattr(model, "goal_test", None)
    return test


def for_frames(model: Model, shape: tuple[int, ...]) -> Model:
    """The model for frames of shape [H,W,3], if it takes several sizes; an InputError if it does not take this one."""
    resize = getattr(model, "for_frames", None)
    suited: Model = model if resize is None or len(shape) != 3 else resize(*shape[:2])
    return suited


def looks_of(model: Model) -> np.ndarray | None:
    """How much [d] each number of a model's embeddings counts in a picture; None if the model cannot tell."""
    looks: np.ndarray | None = getattr(model, "looks", None)
    return looks


def is_discrete(model: Model) -> bool:
    """Whether a model says that its embeddings are zeros and ones, and equal if states are."""
    return bool(getattr(model, "discrete", False))


def check_frame(value: Any, what: str) -> None:
    """An InputError unless a value is a frame, uint8 [H,W,3]; `what` is what the value is called."""
    if not (isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] == 3):
        raise InputError(f"{what} is {describe_value(value)}; it must be uint8 [height, width, 3]")


def describe_value(value: Any) -> str:
    """What was given instead of a frame, in a few words."""
    return f"{value.dtype} {list(value.shape)}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


class World(Protocol):
    """An environment as a closed-loop planner sees it: frames, and whether the goal is reached."""

    actions: int
    """How many actions there are, A."""

    def reset(self) -> tuple[np.ndarray, bool]:
        """The first frame [H,W,3] uint8, and whether it is solved already."""

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        """The frame [H,W,3] uint8 after an action, and whether the goal is reached."""
