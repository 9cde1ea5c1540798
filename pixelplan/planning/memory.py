"""What a closed-loop planner has seen: every observation, and where each action led."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelplan.envs.frames import DistinctFrames
from pixelplan.planning.latent_graph import as_array, as_tensor, distance_table, distances
from pixelplan.types import Distance, Model, goal_test_of, is_discrete

if TYPE_CHECKING:
    import torch


class Memory:
    """Observed states and transitions.

    A state is identified by its frame, byte for byte: whatever the model thinks, different observations stay different
    and none is forgotten. Embeddings matter only when the model is asked (`Remembering`). If pixels are noisy, no frame
    occurs twice, and a state is identified by its embedding: one nearer than `threshold` to that of an observed state
    is that state.
    """

    def __init__(self, actions: int, threshold: float | None = None) -> None:
        self._actions, self._threshold = actions, threshold
        self.forget()

    def forget(self) -> None:
        """Start afresh with nothing."""
        self._frames = DistinctFrames()
        self._embeddings: list[np.ndarray] = []
        self.successors = np.empty((0, self._actions), np.int32)
        """[K,A], the observed state that each action led to; -1 if untried."""
        self.not_goals: set[int] = set()
        """Observed states that the model mistakes for the goal."""

    def observe(self, frame: np.ndarray, embedding: np.ndarray | None = None) -> int:
        """The number of the state that this frame shows; a new frame gets a new number and keeps this embedding [d]."""
        if self._threshold is not None and self._embeddings and embedding is not None:
            apart = distances(self.embeddings(), embedding)
            if apart.min() < self._threshold:
                return int(apart.argmin())
        state = self._frames.add(frame)
        if state == len(self.successors):
            self.successors = np.pad(self.successors, ((0, 1), (0, 0)), constant_values=-1)
            if embedding is not None:
                self._embeddings.append(embedding)
        return state

    def embeddings(self, states: Iterable[int] | None = None) -> np.ndarray:
        """Embeddings [n,d] of these observed states, by default of all."""
        return np.stack(self._embeddings if states is None else [self._embeddings[state] for state in states])

    def untried(self, state: int) -> Iterator[tuple[list[int], int]]:
        """Observed states with untried actions that can be reached from a state, nearest first: (actions, state)."""
        ways: dict[int, list[int]] = {state: []}
        queue = deque([state])
        while queue:
            here = queue.popleft()
            if (self.successors[here] < 0).any():
                yield ways[here], here
            for action, there in enumerate(self.successors[here].tolist()):
                if there >= 0 and there not in ways:
                    ways[there] = [*ways[here], action]
                    queue.append(there)


class Remembering:
    """A model that memory overrules: if a transition was observed, that is what the action does."""

    def __init__(self, model: Model, memory: Memory) -> None:
        self.threshold, self.noisy, self.discrete = model.threshold, model.noisy, is_discrete(model)
        self.distance: Distance | None = getattr(model, "distance", None)
        self.goal_test = goal_test_of(model)
        self._model, self._memory = model, memory

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """As the model does."""
        return self._model.encode(frames)

    def context(self, frame: np.ndarray) -> Any:
        """As the model does."""
        return self._model.context(frame)

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The model's predictions [N,A,d], replaced by what was observed if a state near z has tried the action.

        The nearest observed state that has tried it decides.
        """
        predictions = self._model.step(z, context)
        successors = self._memory.successors
        if (successors < 0).all():
            return predictions
        embeddings = self._memory.embeddings()
        far = distance_table(as_array(z), embeddings)  # [N,K]
        far[far >= self.threshold] = np.inf
        far = np.where(successors >= 0, far[..., None], np.inf)  # [N,K,A]
        rows, actions = np.nonzero(np.isfinite(far.min(1)))
        states = successors[far.argmin(1)[rows, actions], actions]
        predictions = predictions.clone()  # the model may still own this tensor
        predictions[rows, actions] = as_tensor(embeddings[states]).to(predictions)
        return predictions
