"""LATENT GRAPH: how surprised a policy would be by the path to each node."""

from __future__ import annotations

import numpy as np

from pixelplan.planning.latent_graph import Origins, with_room


class Surprise:
    """-log of the probability with which a policy would take the path to a node: 0 if it is sure of every action."""

    def __init__(self) -> None:
        self._of_actions: np.ndarray | None = None  # [M,A], of each action of each node
        self._of_path = np.zeros(1024, np.float32)  # [M]

    def note(self, nodes: np.ndarray, logarithms: np.ndarray) -> None:
        """Keep the log-probabilities [n,A] of the actions in nodes [n]."""
        if self._of_actions is None:
            self._of_actions = np.zeros((1024, logarithms.shape[1]), np.float32)
        while len(self._of_path) <= nodes.max():
            self._of_actions, self._of_path = with_room(self._of_actions), with_room(self._of_path)
        self._of_actions[nodes] = np.nan_to_num(-logarithms, nan=np.inf, posinf=np.inf, neginf=0.0)

    def of(self, graph: Origins, nodes: np.ndarray) -> np.ndarray:
        """The surprise [n] at the current paths to nodes [n]."""
        assert self._of_actions is not None
        parents, actions = graph.found_by(nodes)
        known = self._of_path[parents] + self._of_actions[parents, actions]
        self._of_path[nodes] = np.where(parents < 0, 0.0, known)
        return self._of_path[nodes].astype(np.float64)
