"""What the true rules say about a plan, after it is made: the planner never sees any of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pixelplan.planning.latent_graph import as_array, distances
from pixelplan.planning.one_shot import inference
from pixelplan.planning.plan import LatentGraph
from pixelplan.types import Model
from pixelplan.web.board import Board, follow
from pixelplan.web.plan_view import Parting


class Truth:
    """A board's true rules beside a model's idea of them; in a user's environment they are unknown."""

    def __init__(self, board: Board, model: Model, embeddings: dict[int, np.ndarray]) -> None:
        """`embeddings` remembers the embedding [d] of each state."""
        self._board, self._model, self._embeddings = board, model, embeddings

    def nodes(self, graph: LatentGraph, here: int) -> tuple[list[int], list[bool]]:
        """The state in which the path to each node really ends, and whether the node looks like it.

        Both are empty if the rules are unknown.
        """
        if not self._board.cells:
            return [], []
        states = [here]
        for parent, action in zip(graph.parents[1:].tolist(), graph.parent_actions[1:].tolist(), strict=True):
            states.append(self._board.after(states[parent], action))
        apart = distances(graph.embeddings, self._look(states))
        return states, (apart < self._model.threshold).tolist()

    def judge(
        self, actions: Sequence[int], expected: np.ndarray, here: int
    ) -> tuple[list[tuple[float, float]], bool | None, Parting | None]:
        """Where actions really lead, whether to the goal, and the first step that is not as expected [n,d]."""
        if not self._board.cells:
            return [], None, None
        states = follow(self._board, actions, here)
        apart = distances(expected, self._look(states[1:])) if actions else np.zeros(0)
        wrong = np.flatnonzero(apart >= self._model.threshold)
        parts = None
        if len(wrong):
            step = int(wrong[0])
            parts = Parting(
                step=step + 1,
                action=actions[step],
                before=states[step],
                predicted=self._most_like(expected[step]),
                seen=states[step + 1],
                distance=round(float(apart[step]), 4),
            )
        return self._board.places(states), self._board.solved(states[-1]), parts

    def _most_like(self, embedding: np.ndarray) -> int:
        """The state that looks most like an embedding [d]."""
        states = list(dict.fromkeys(self._board.cells.values()))
        return states[int(distances(self._look(states), embedding).argmin())]

    def _look(self, states: Iterable[int]) -> np.ndarray:
        """The model's embeddings of states, [n,d]."""
        states = list(states)
        new = [state for state in dict.fromkeys(states) if state not in self._embeddings]
        if new:
            with inference():
                frames = np.stack([self._board.frame(state) for state in new])
                self._embeddings.update(zip(new, as_array(self._model.encode(frames)), strict=True))
        return np.stack([self._embeddings[state] for state in states])
