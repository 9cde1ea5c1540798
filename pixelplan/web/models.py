"""Which model thinks about which puzzle: the user's own, the shipped one, or the true rules where there is neither."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pixelplan.envs import PUZZLES, Level, Puzzle, get_level, make_puzzle
from pixelplan.envs.noise import NOISE
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.models import ORACLE, WEIGHTS, find_model, open_model
from pixelplan.model.checkpoint import read_description
from pixelplan.planning import one_shot
from pixelplan.types import InputError, Model

_ORACLES = 24
"""Levels whose oracles are remembered; one holds all frames of its level, up to 3 MB."""


@dataclass(frozen=True)
class Thinker:
    """What the page says of a puzzle's model."""

    puzzle: Puzzle
    model: Model | None
    """None: the oracle, which every level has of its own."""
    label: str
    note: str
    """One sentence for the visitor, where there is something to explain."""
    problem: str = ""
    """Why the model could not be opened."""


class Models:
    """The model of every puzzle, opened when it is first wanted."""

    def __init__(self, model: str | None = None) -> None:
        """`model` is None for the shipped ones, "oracle", or a folder that train wrote."""
        self._choice = model
        self._lock = threading.Lock()
        self._thinkers: dict[str, Thinker] = {}
        self._oracles: OrderedDict[tuple[str, int], Oracle] = OrderedDict()

    def puzzle(self, env: str) -> Puzzle:
        """A puzzle by its name, with the options its model was made for; an InputError for an unknown one."""
        return self.thinker(env).puzzle

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
        puzzle = make_puzzle(env)
        if self._choice == ORACLE:
            return Thinker(puzzle, None, ORACLE, "The planner searches the true rules, not a learned model (oracle).")
        trained_on, options = _training_puzzle(self._choice) if self._choice else (None, {})
        own = self._choice is not None and trained_on in (None, env)
        if not own and not (WEIGHTS / env).is_dir():
            note = "No trained model is shipped for this puzzle: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note)
        name = str(self._choice) if own else env
        try:
            suited = make_puzzle(env, **options) if own and trained_on == env else puzzle
            return Thinker(
                suited, open_model(name, env, suited.pixels), Path(name).name if own else f"shipped {env}", ""
            )
        except InputError as problem:
            logging.getLogger("pixelplan").warning(
                "%s: %s", env, problem
            )  # it may name folders, so visitors don't see it
            note = "The model of this puzzle could not be opened: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note, str(problem))

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

    def warm_up(self) -> None:
        """Open every model and think about one level of each puzzle, so that the first visitor need not wait."""
        for env in PUZZLES:
            with contextlib.suppress(InputError):  # a puzzle that is not installed says so when it is asked for
                level = get_level(self.puzzle(env), 3000)
                one_shot(self.model(env, level), level.frame(level.start), level.frame(level.goal))

    def check(self) -> None:
        """An InputError where the model that the user named suits no puzzle at all."""
        if self._choice not in (None, ORACLE):
            trained_on, _ = _training_puzzle(str(self._choice))
            thinkers = [self.thinker(env) for env in PUZZLES if trained_on in (None, env)]
            if not thinkers:
                raise InputError(
                    f"the model {self._choice!r} was trained on {trained_on}, which the page does not know"
                )
            if all(thinker.model is None for thinker in thinkers):
                raise InputError(thinkers[0].problem)


def _training_puzzle(name: str) -> tuple[str | None, dict[str, Any]]:
    """The puzzle that a model was trained on, None where it does not say, and that puzzle's options."""
    data = read_description(find_model(name)).get("data", {})
    options = {key: value for key, value in (data.get("options") or {}).items() if key != NOISE}
    return data.get("env"), options
