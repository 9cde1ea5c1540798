"""Which model thinks about which puzzle: the user's own, the shipped one, or the true rules where there is neither.

An environment of the user's own stands beside the puzzles, with the model that the user names.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pixelplan.envs import PUZZLES, get_level, make_puzzle
from pixelplan.envs.family import Family, Tables
from pixelplan.envs.noise import NOISE
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.models import ORACLE, WEIGHTS, choose_model, find_model, open_model
from pixelplan.model.checkpoint import read_description
from pixelplan.planning import one_shot
from pixelplan.types import InputError, Model
from pixelplan.web.boards import Board, TableBoard
from pixelplan.web.found import OwnWorld
from pixelplan.web.limits import Limits
from pixelplan.web.schema import OWN

FIRST_LEVEL = 3000
"""The level on which the page opens."""
_ORACLES = 24
"""Levels whose oracles are remembered; one holds all frames of its level, up to 3 MB."""


@dataclass(frozen=True)
class Thinker:
    """What the page says of a puzzle's model."""

    family: Family
    """The levels, with the options that the model was made for."""
    model: Model | None
    """None: the oracle, which every level has of its own."""
    label: str
    note: str
    """One sentence for the visitor, where there is something to explain."""
    problem: str = ""
    """Why the model could not be opened."""


class Models:
    """The model of every puzzle, opened when it is first wanted."""

    def __init__(self, model: str | None = None, family: Family | None = None) -> None:
        """`model` is None for the shipped ones, "oracle", or a folder that train wrote.

        `family` comes first on the page: a puzzle with options, or an own environment, which is what `model` is for
        then; an InputError where they do not fit.
        """
        self._choice = model
        self._lock = threading.Lock()
        self._thinkers: dict[str, Thinker] = {}
        self._oracles: OrderedDict[tuple[str, int], Oracle] = OrderedDict()
        self._wanted = family if isinstance(family, Tables) else None
        self._world: OwnWorld | None = None
        if family is not None and self._wanted is None:
            if model is None:
                raise InputError(
                    f"nobody knows the rules of {family.name}: train a model of it and name its folder with --model"
                )
            opened, family = choose_model(model, "full", family)
            self._world, self._choice = OwnWorld(family), None
            self._thinkers[OWN] = Thinker(family, opened, Path(model).name, "")

    @property
    def names(self) -> list[str]:
        """The puzzles, and the user's own environment; what the user asked for is the first."""
        first = OWN if self._world else self._wanted.name if self._wanted else None
        return [*([first] if first else []), *(env for env in PUZZLES if env != first)]

    def board(self, env: str, number: int, most: int) -> Board:
        """A level; at most so many states are kept of one that is no table. An InputError where there is none."""
        family = self.thinker(env).family
        if isinstance(family, Tables):
            level = get_level(family.puzzle, number)
            return TableBoard(level, level.goal)
        assert self._world is not None
        return self._world.board(number, most)

    def thinker(self, env: str) -> Thinker:
        """The model of a puzzle and what to say of it."""
        with self._lock:
            if env not in self._thinkers:
                self._thinkers[env] = self._open(env)
            return self._thinkers[env]

    def model(self, env: str, number: int) -> Model:
        """The model that thinks about a level."""
        model = self.thinker(env).model
        return self._oracle(env, number) if model is None else model

    def _open(self, env: str) -> Thinker:
        wanted = self._wanted if self._wanted and self._wanted.name == env else None
        puzzle = wanted or Tables(make_puzzle(env), env)
        if self._choice == ORACLE:
            return Thinker(puzzle, None, ORACLE, "The planner searches the true rules, not a learned model (oracle).")
        trained_on, options = _training_puzzle(self._choice) if self._choice else (None, {})
        own = self._choice is not None and trained_on in (None, env)
        if not own and not (WEIGHTS / env).is_dir():
            note = "No trained model is shipped for this puzzle: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note)
        name = str(self._choice) if own else env
        try:
            trained = own and trained_on == env and wanted is None
            suited = Tables(make_puzzle(env, **options), env) if trained else puzzle
            label = Path(name).name if own else f"shipped {env}"
            return Thinker(suited, open_model(name, suited), label, "")
        except InputError as problem:
            logging.getLogger("pixelplan").warning(
                "%s: %s", env, problem
            )  # it may name folders, so visitors don't see it
            why = "could not be opened" if own or wanted is None else "was trained on boards that look otherwise"
            note = f"The model of this puzzle {why}: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note, str(problem))

    def _oracle(self, env: str, number: int) -> Oracle:
        key = (env, number)
        family = self.thinker(env).family
        assert isinstance(family, Tables)
        with self._lock:
            if key in self._oracles:
                self._oracles.move_to_end(key)
            else:
                self._oracles[key] = Oracle(get_level(family.puzzle, number))
                if len(self._oracles) > _ORACLES:
                    self._oracles.popitem(last=False)
            return self._oracles[key]

    def warm_up(self) -> None:
        """Open every model and think about one level of each puzzle, so that the first visitor need not wait."""
        for env in self.names:
            with contextlib.suppress(InputError):  # a puzzle that is not installed says so when it is asked for
                board = self.board(env, FIRST_LEVEL, Limits().states)
                one_shot(self.model(env, FIRST_LEVEL), board.frame(board.start), board.frame(board.goal))

    def check(self) -> None:
        """An InputError where the user's model suits no puzzle, or the own environment cannot be played."""
        if self._world is not None:
            self._world.check(FIRST_LEVEL)
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
