"""What crosses the borders between stages: small frozen dataclasses and the protocols of the seams.

Shapes: N frames or embeddings, H × W pixels, d latent dimensions, A actions, E episodes of T steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:  # torch takes seconds to import, and levels and trajectories do without it
    import torch


class InputError(Exception):
    """Something the user asked for cannot be done; the message is one sentence that says what would be right.

    The command line prints it and exits with code 2. (Not a ValueError: the parser of the command line would catch
    those and wrap them in words of its own.)
    """


ADDED_LATER = {"later": True}
"""Marks fields that earlier versions did not have: a record without them is one with their defaults, or with the value
that the mark names as `before`."""
ACTIONS = ("up", "right", "left", "down", "no-op")
"""The actions of the three puzzles, by number."""


def values_before(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that were added later, each with its value in records from before."""
    later = [field for field in dataclasses.fields(kind) if "later" in field.metadata]
    return {field.name: field.metadata.get("before", field.default) for field in later}


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded play: distinct frames stored once, and episodes as indices into them."""

    frames: np.ndarray
    """[F,H,W,3] uint8; the frames of a level stand together."""
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


@dataclass(frozen=True, eq=False)
class Goal:
    """What to reach: any of some pictures, in the parts that matter, or whatever solves the level."""

    frames: np.ndarray | None = None
    """[G,H,W,3] uint8, any of which will do; None if the goal is whatever solves the level (the model's goal test)."""
    masks: np.ndarray | None = None
    """[G,H,W] bool, which pixels of each frame matter; None if all do."""

    def __post_init__(self) -> None:
        if self.frames is None:
            if self.masks is not None:
                raise InputError("a mask says which pixels of a goal frame matter; there is no goal frame")
            return
        if self.frames.ndim != 4 or self.frames.shape[3] != 3 or self.frames.dtype != np.uint8 or not len(self.frames):
            raise InputError(f"the goal frame is {_told(self.frames)}; a frame is uint8 with shape [height, width, 3]")
        if self.masks is None:
            return
        if self.masks.dtype != bool or self.masks.shape != self.frames.shape[:3]:
            raise InputError(
                f"the goal's mask is {_told(self.masks)}; it must be bool with the goal frame's shape "
                f"{list(self.frames.shape[1:3])}"
            )
        if not self.masks.any(axis=(1, 2)).all():
            raise InputError("nothing of the goal frame matters by its mask, so every state would be the goal")

    @classmethod
    def of(cls, wanted: Any, mask: np.ndarray | None = None) -> Goal:
        """A goal from a frame [H,W,3] or several [G,H,W,3], optionally with a mask [H,W] or [G,H,W] of what matters;
        from "solved"; or from a goal."""
        if isinstance(wanted, Goal):
            return wanted
        if isinstance(wanted, str) and wanted == "solved":
            return cls()
        if not isinstance(wanted, np.ndarray):
            raise InputError(f"the goal frame is a {type(wanted).__name__}; a frame is uint8 [height, width, 3]")
        frames = wanted[None] if wanted.ndim == 3 else wanted
        if mask is None:
            return cls(frames)
        return cls(frames, mask if mask.ndim == 3 else np.broadcast_to(mask, (len(frames), *mask.shape)))

    @property
    def picture(self) -> np.ndarray | None:
        """A frame [H,W,3] to show people, the first; None if there is none."""
        return None if self.frames is None else self.frames[0]

    def shown_by(self, frame: np.ndarray) -> bool:
        """Whether a frame [H,W,3] is one of the goal's, in all that matters."""
        if self.frames is None:
            return False
        if self.masks is None:
            return any(np.array_equal(frame, goal) for goal in self.frames)
        masked = zip(self.frames, self.masks, strict=True)
        return any(np.array_equal(frame[mask], goal[mask]) for goal, mask in masked)

    def completed(self, frame: np.ndarray) -> np.ndarray:
        """The goal's frames [G,H,W,3], with what does not matter as it is in a frame [H,W,3]."""
        assert self.frames is not None
        return self.frames if self.masks is None else np.where(self.masks[..., None], self.frames, frame)


def _told(array: np.ndarray) -> str:
    return f"{array.dtype} {list(array.shape)}"


class GoalTest(Protocol):
    """Says which states solve their level, as far as recorded play has taught it."""

    def __call__(self, z: torch.Tensor) -> torch.Tensor:
        """Doubts [N] that states z [N,d] are solved: below 1 they are taken for solved, and lower is surer."""


class Model(Protocol):
    """A world model as a planner sees it.

    It may also have `discrete` (bool): every embedding is made of zeros and ones, and equal ones are the same state;
    `distance` (a `Distance`) and `goal_test` (a `GoalTest`), learned for it; and `matching(goal)`, the embeddings
    [G,d] of all states that show a `Goal` with masks, if it knows them.
    """

    threshold: float
    """The distance under which two embeddings are the same state."""
    noisy: bool
    """Whether frames of one state may differ, so that only embeddings tell states apart."""

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3] uint8."""

    def context(self, frame: np.ndarray) -> Any:
        """What `step` needs to know of the level, from one frame [H,W,3] of it."""

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""


class Distance(Protocol):
    """Says how far states are from a goal; a search that trusts it looks at fewer of them."""

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """Steps [N], about, from each of z [N,d] to the nearest of goals [G,d]."""


class Guide(Distance, Protocol):
    """A distance that also says which actions are promising."""

    def look(self, z: torch.Tensor, goals: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The steps [N] of a `Distance`, and the logarithms [N,A] of how likely each action is the best from there."""


def goal_test_of(model: Model) -> GoalTest | None:
    """A model's goal test; None if it has none."""
    test: GoalTest | None = getattr(model, "goal_test", None)
    return test


def is_discrete(model: Model) -> bool:
    """Whether a model says that its embeddings are zeros and ones, and equal if states are."""
    return bool(getattr(model, "discrete", False))


def is_frame(value: Any) -> bool:
    """Whether a value is a frame: uint8 [H,W,3]."""
    return isinstance(value, np.ndarray) and value.dtype == np.uint8 and value.ndim == 3 and value.shape[2] == 3


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


def pack(z: np.ndarray) -> np.ndarray:
    """The bits [N,w] uint64 of embeddings [N,d] of zeros and ones."""
    octets = np.packbits(z > 0.5 if z.dtype != bool else z, axis=1)
    words = -(-octets.shape[1] // 8)
    padded = np.zeros((len(octets), 8 * words), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)


def unpack(words: np.ndarray, bits: int) -> np.ndarray:
    """The embeddings [N,d] float32 that `pack` made these words [N,w] of."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.unpackbits(octets, axis=1, count=bits).astype(np.float32)


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """What a search built: M nodes in the order in which they were found, the root first."""

    codes: np.ndarray
    """[M,d] float32 embeddings, or [M,w] uint64 with the bits of discrete ones."""
    successors: np.ndarray
    """[M,A] int32, the node that each action leads to; -1 if the search did not look or did not keep it."""
    parents: np.ndarray
    """[M] int32, the node from which each was found; -1 for the root."""
    parent_actions: np.ndarray
    """[M] int32, the action that led there from the parent; -1 for the root."""
    depths: np.ndarray
    """[M] int32, actions from the root."""
    bits: int | None = None
    """How many dimensions packed embeddings have, d; None if codes are the embeddings."""
    ahead: np.ndarray | None = None
    """[M] float32, steps from each node to the goal by the search's distance, if it had one."""

    @property
    def embeddings(self) -> np.ndarray:
        """[M,d] float32. For a large discrete graph this takes much memory; `pieces` returns it in parts."""
        return self.at(slice(None))

    def at(self, nodes: Any) -> np.ndarray:
        """Embeddings [n,d] float32 of some nodes."""
        return self.codes[nodes] if self.bits is None else unpack(self.codes[nodes], self.bits)

    def pieces(self, size: int = 4096) -> Iterator[tuple[slice, np.ndarray]]:
        """All embeddings in turn [n,d], and which nodes they are of; those that are not packed all at once."""
        size = max(1, len(self.codes)) if self.bits is None else size
        for first in range(0, len(self.codes), size):
            nodes = slice(first, min(first + size, len(self.codes)))
            yield nodes, self.at(nodes)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        nodes = [node]
        while self.parents[nodes[-1]] >= 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes[::-1]

    def actions(self, path: list[int]) -> tuple[int, ...]:
        """The actions along a path from the root."""
        return tuple(int(action) for action in self.parent_actions[path[1:]])


@dataclass(frozen=True, eq=False)
class Plan:
    """Actions that should lead to the goal, and the search that found them."""

    actions: tuple[int, ...]
    """n actions; if the goal was not found, they lead to the node nearest to it, or to something worth a try."""
    reached: bool
    """Whether the last node was reidentified with the goal."""
    embeddings: np.ndarray
    """[n+1,d] float32, predicted along the plan, the start's first."""
    path: tuple[int, ...]
    """The n+1 nodes of the graph along the plan, the root first; only the root if it does not follow the graph."""
    leaves: tuple[int, ...]
    """Nodes that were expanded in each layer."""
    graph: LatentGraph
    seconds: float
    far: float = 0.0
    """How far the embedding at its end is from the goal's, in thresholds of the model."""
    chance: float | None = None
    """How likely it is to succeed if carried out blindly, if that was learned (`evaluation/chance.py`)."""

    @property
    def nodes(self) -> int:
        """Nodes of the graph."""
        return len(self.graph.codes)

    @property
    def layers(self) -> int:
        """Layers that were expanded."""
        return len(self.leaves)


@dataclass(frozen=True, eq=False)
class Episode:
    """One closed-loop run of T steps in an environment."""

    actions: tuple[int, ...]
    """T actions taken."""
    frames: np.ndarray
    """[T+1,H,W,3] uint8, what was seen."""
    solved: bool
    """Whether the environment reported the goal, or showed the goal frame, at the end."""
    ended: str
    """Why it ended: "solved", "steps" (out of steps), "exhausted" (nothing new can be reached), "plan over"."""
    plans: tuple[Plan, ...] = ()
    """Every plan made, in order."""
    planned_at: tuple[int, ...] = ()
    """The step at which each plan was made."""
    seconds: float = 0.0
    """Time spent planning and perceiving, without the environment's."""

    @property
    def replans(self) -> int:
        """Plans after the first."""
        return max(0, len(self.plans) - 1)


@dataclass(frozen=True)
class LevelResult:
    """How one level went."""

    level: int
    solved: bool
    steps: int
    shortest: int | None
    """Steps of the shortest solution, None if unknown."""
    replans: int
    nodes: int
    """Nodes of all searches together."""
    seconds: float
    """Time spent planning and perceiving."""
    plans: int = 0
    ended: str = ""
    found: bool | None = None
    """Whether the first plan leads to the goal, by the model; this and the next three are None without a plan."""
    planned: int | None = None
    """Steps of the first plan."""
    far: float | None = None
    """How far its end is from the goal, in thresholds of the model."""
    chance: float | None = None
    """How likely it was to succeed, if asked for."""
    error: str | None = None
    """What went wrong, if an exception was raised."""


@dataclass(frozen=True)
class Result:
    """An evaluation, as it is written to a record."""

    env: str
    options: Mapping[str, Any]
    planner: str
    config: Mapping[str, Any]
    model: str | None
    """None if the planner needs no model."""
    levels: tuple[Any, ...]
    """(first, end) of one range, or several such pairs."""
    goals: str
    step_limit: int
    seed: int
    success: float
    interval: tuple[float, float]
    """95 % Wilson interval of the success."""
    optimal: float | None
    """Share of the solved levels that took the shortest possible number of steps."""
    seconds_per_plan: float | None
    machine: Mapping[str, Any]
    version: str
    commit: str | None
    threads: int
    episodes: tuple[LevelResult, ...]
    weights: str | None = None
    """What tells the model from another of the same name; None if it has no weights, and in older records."""
    heuristic: str | None = None
    """The folder of the learned distance that guided the search, if one did."""
    calibration: str | None = None
    """The record that the chances of plans were learned from, if asked for."""
