"""Which model thinks about which puzzle: the user's own, the shipped one, or the true rules where there is neither."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from pixelplan.envs import PUZZLES, Level, Puzzle, make_puzzle
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.models import ORACLE, WEIGHTS, open_model
from pixelplan.types import InputError, Model

_ORACLES = 64
"""Levels whose oracles are remembered."""


@dataclass(frozen=True)
class Thinker:
    """What the page says of a puzzle's model."""

    puzzle: Puzzle
    model: Model | None
    """None: the oracle, which every level has of its own."""
    label: str
    note: str
    """One sentence for the visitor, where there is something to explain."""


class Models:
    """The model of every puzzle, opened when it is first wanted."""

    def __init__(self, model: str | None = None) -> None:
        """`model` is None for the shipped ones, "oracle", or a folder that train wrote."""
        self._choice = model
        self._lock = threading.Lock()
        self._thinkers: dict[str, Thinker] = {}
        self._oracles: OrderedDict[tuple[str, int], Oracle] = OrderedDict()

    def puzzle(self, env: str) -> Puzzle:
        """A puzzle by its name; an InputError for an unknown one."""
        return make_puzzle(env)

    def thinker(self, env: str) -> Thinker:
        """The model of a puzzle and what to say of it."""
        with self._lock:
            if env not in self._thinkers:
                self._thinkers[env] = self._open(env)
            return self._thinkers[env]

    def model(self, env: str, level: Level) -> Model:
        """The model that thinks about a level."""
        model = self.thinker(env).model
        return self._oracle(env, level) if model is None else model

    def _open(self, env: str) -> Thinker:
        puzzle = self.puzzle(env)
        if self._choice == ORACLE:
            return Thinker(puzzle, None, ORACLE, "The planner searches the true rules, not a learned model (oracle).")
        if self._choice is None:
            if not (WEIGHTS / env).is_dir():
                note = "No trained model is shipped for this puzzle: the planner searches the true rules (oracle)."
                return Thinker(puzzle, None, ORACLE, note)
            return Thinker(puzzle, open_model(WEIGHTS / env, env, puzzle.pixels), f"shipped: {env}", "")
        try:
            return Thinker(puzzle, open_model(self._choice, env, puzzle.pixels), self._choice, "")
        except InputError as problem:
            return Thinker(puzzle, None, ORACLE, f"The true rules stand in (oracle), since {problem}.")

    def _oracle(self, env: str, level: Level) -> Oracle:
        key = (env, level.number)
        with self._lock:
            if key in self._oracles:
                self._oracles.move_to_end(key)
            else:
                self._oracles[key] = Oracle(level)
                if len(self._oracles) > _ORACLES:
                    self._oracles.popitem(last=False)
            return self._oracles[key]

    def check(self) -> None:
        """An InputError where the model the user named suits no puzzle at all."""
        if self._choice not in (None, ORACLE):
            notes = {env: self.thinker(env) for env in PUZZLES}
            if all(thinker.model is None for thinker in notes.values()):
                open_model(str(self._choice), "ice-slider", 64)
