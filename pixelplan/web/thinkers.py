"""Which model thinks about which puzzle: the user's own, the shipped one, or the true rules if there is neither.

A user's own environment stands beside the puzzles, with the model that the user names.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelplan.by_name.open_model import ORACLE, SHIPPED, calibrated, choose_model, find_model, guided, open_model
from pixelplan.envs.family import Family, Goals
from pixelplan.envs.noise_config import NOISE
from pixelplan.model.checkpoint import read_description
from pixelplan.planning import one_shot
from pixelplan.puzzles import PUZZLES, Level, get_level, make_puzzle
from pixelplan.puzzles.drawn_levels import as_drawable, drawn_level
from pixelplan.puzzles.oracle import Oracle
from pixelplan.puzzles.table_family import Tables
from pixelplan.types import InputError, Model, goal_test_of
from pixelplan.web.board import Board, TableBoard
from pixelplan.web.explored_level import OwnWorld
from pixelplan.web.limits import Limits
from pixelplan.web.own_board import OwnBoard
from pixelplan.web.recent import Recent
from pixelplan.web.schema import OWN_ENVIRONMENT, Cell, ModelChoice, PictureView
from pixelplan.web.searching import GUIDED, USUAL_SEARCH, Searching
from pixelplan.web.sessions import Game
from pixelplan.web.uploads import ReadLevel, read_level

FIRST_LEVEL = 3000
"""The level with which the page opens."""
_ORACLES = 24
"""Levels whose oracles are remembered; one holds all frames of its level, up to 3 MB."""
_RULES = "The planner searches the true rules, not a learned model (oracle)."
_GOALS: Mapping[Goals, str] = {
    "level": "The level's own goal",
    "solved": "Whatever solves the level, by the model's goal test",
    "random": "A state that random play has met: this model has no goal test, so it cannot tell what solves a level",
}
"""What the page says about the goals that levels begin with."""


@dataclass(frozen=True)
class Thinker:
    """What the page says about a puzzle's model."""

    family: Family
    """The levels, with the options that the model was made for."""
    model: Model | None
    """None is the oracle: every level has its own."""
    label: str
    note: str
    """One sentence for the visitor, if there is something to explain."""
    problem: str = ""
    """Why the model could not be opened."""
    searching: Searching = USUAL_SEARCH
    """How to search its latent graph."""
    goal: str = _GOALS["level"]
    """The goal of a level, until the visitor chooses another one."""


class Models:
    """The model of every puzzle, opened when it is first needed."""

    def __init__(
        self,
        model: str | None = None,
        family: Family | None = None,
        heuristic: Path | None = None,
        calibration: Path | None = None,
    ) -> None:
        """`model` is None for the shipped ones, "oracle", or a folder that train wrote.

        `family` comes first on the page: a puzzle with options, or a user's environment, which `model` is then for; an
        InputError if they do not fit. `heuristic` (a folder that train-heuristic wrote, for best-first search) and
        `calibration` (a record, for chances of success) are for a user's environment, too.
        """
        self._choice = model
        self._lock = threading.Lock()
        self._thinkers: dict[tuple[str, str], Thinker] = {}
        self._oracles = Recent[tuple[str, int | str], Oracle](_ORACLES)
        self._pictures = Recent[tuple[str, str], ReadLevel](Limits().pictures)
        self._wanted = family if isinstance(family, Tables) else None
        self._world: OwnWorld | None = None
        if family is not None and self._wanted is None:
            if model is None:
                raise InputError(
                    f"the rules of {family.name} are unknown: train a model of it and name its folder with --model"
                )
            opened, family = choose_model(model, "full", family)
            search = USUAL_SEARCH.config if heuristic is None else GUIDED
            opened = guided(opened, heuristic, family.name, search)
            searching = Searching(search, calibrated(calibration, opened, heuristic, search))
            goals = _goals_of(family, opened)
            self._world, self._choice = OwnWorld(family, goals), None
            self._thinkers[OWN_ENVIRONMENT, ""] = Thinker(
                family, opened, Path(model).name, "", searching=searching, goal=_GOALS[goals]
            )
        elif heuristic is not None or calibration is not None:
            raise InputError("--heuristic and --calibration are for your own environment; name it with --env")

    @property
    def names(self) -> list[str]:
        """The puzzles, and the user's own environment; the one that the user asked for comes first."""
        first = OWN_ENVIRONMENT if self._world else self._wanted.name if self._wanted else None
        return [*([first] if first else []), *(env for env in PUZZLES if env != first)]

    @staticmethod
    def parse(name: int | str) -> tuple[int | str, int]:
        """A level's name without its noise, as a whole number if it is one, and the noise."""
        plain, _, noise = str(name).partition("~")
        return int(plain) if plain.isdecimal() else plain, int(noise or 0)

    def board(self, env: str, name: int | str, most: int) -> Board:
        """A level by its name; if it has no table, at most `most` of its states are kept.

        An InputError if there is no such level.
        """
        family = self.thinker(env).family
        plain, noise = self.parse(name)
        if not isinstance(family, Tables):
            assert self._world is not None
            if noise or not isinstance(plain, int):
                raise InputError(f"there is no level {str(name)[:40]!r}; levels of {family.name} are whole numbers")
            return OwnBoard.of(self._world.level(plain, most))
        puzzle, picture, drawing = family.puzzle, None, None
        if isinstance(plain, int):
            level = get_level(puzzle, plain)
        elif plain.startswith("picture-"):
            level, picture = self._picture(env, plain)
        else:
            level, drawing = drawn_level(puzzle, plain), plain
        if drawing is None and hasattr(puzzle, "drawing"):
            drawing = str(as_drawable(puzzle).drawing(level))
        return TableBoard(level, level.goal, plain if not noise else f"{plain}~{noise}", drawing, noise, picture)

    def read(self, env: str, image: Image.Image) -> PictureView:
        """Read a level from a picture and keep it for a while; an InputError if it shows none."""
        family = self.thinker(env).family
        if not isinstance(family, Tables):
            raise InputError(
                f"what the cells of {family.name} look like is unknown, so no level can be read from a picture"
            )
        read = read_level(family.puzzle, image)
        name = f"picture-{hashlib.blake2b(read.picture.tobytes(), digest_size=8).hexdigest()}"
        self._pictures.keep((env, name), read)
        doubtful = [Cell(row=row, column=column) for row, column in read.doubtful]
        return PictureView(level=name, drawing=str(read.drawing), note=read.note, doubtful=doubtful)

    def _picture(self, env: str, name: str) -> tuple[Level, np.ndarray]:
        read = self._pictures.get((env, name))
        if read is None:
            raise InputError("that picture is no longer here; upload it again")
        return read.level, read.picture

    def thinker(self, env: str, choice: str = "") -> Thinker:
        """The model of a puzzle, by its name if it is not the usual one, and what to say about it."""
        with self._lock:
            if (env, choice) not in self._thinkers:
                self._thinkers[env, choice] = self._choose(env, choice) if choice else self._open(env)
            return self._thinkers[env, choice]

    def source(self, env: str) -> str:
        """The name or folder of a puzzle's usual model."""
        users_own = self._choice is not None and _training_puzzle(self._choice)[0] in (None, env)
        return str(self._choice) if users_own else env

    def choices(self, env: str) -> list[ModelChoice]:
        """The models to choose from for a puzzle, the usual one first."""
        usual = self.thinker(env)
        choices = [ModelChoice(name="", label=usual.label, note=usual.note, trained=usual.model is not None)]
        if isinstance(usual.family, Tables):
            for folder in _other_shipped(env):
                with contextlib.suppress(InputError):
                    thinker = self.thinker(env, folder.name)
                    choices.append(ModelChoice(name=folder.name, label=thinker.label, note=thinker.note, trained=True))
            if usual.model is not None:
                choices.append(ModelChoice(name=ORACLE, label="true rules (oracle)", note=_RULES, trained=False))
        return choices

    def model(self, game: Game) -> Model:
        """The model that thinks about a game."""
        model = self.thinker(game.env, game.model).model
        return self._oracle(game) if model is None else model

    def searching(self, game: Game) -> Searching:
        """How the latent graph of a game's model is searched."""
        return self.thinker(game.env, game.model).searching

    def _choose(self, env: str, choice: str) -> Thinker:
        """One of the other models of a puzzle; an InputError if there is none of that name."""
        family = self._thinkers[env, ""].family if (env, "") in self._thinkers else self._open(env).family
        if not isinstance(family, Tables):
            raise InputError(f"there is only one model of {family.name}")
        if choice == ORACLE:
            return Thinker(family, None, ORACLE, _RULES)
        if choice not in [folder.name for folder in _other_shipped(env)]:
            raise InputError(f"there is no model {choice!a} of {env}")
        description = read_description(SHIPPED / choice)
        return Thinker(family, open_model(choice, family), *_training(description))

    def _open(self, env: str) -> Thinker:
        wanted = self._wanted if self._wanted and self._wanted.name == env else None
        puzzle = wanted or Tables(make_puzzle(env), env)
        if self._choice == ORACLE:
            return Thinker(puzzle, None, ORACLE, _RULES)
        trained_on, options = _training_puzzle(self._choice) if self._choice else (None, {})
        users_own = self._choice is not None and trained_on in (None, env)
        if not users_own and not (SHIPPED / env).is_dir():
            note = "No trained model is shipped for this puzzle: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note)
        name = str(self._choice) if users_own else env
        try:
            trained = users_own and trained_on == env and wanted is None
            suited = Tables(make_puzzle(env, **options), env) if trained else puzzle
            label = Path(name).name if users_own else f"shipped {env}"
            return Thinker(suited, open_model(name, suited), label, "")
        except InputError as problem:
            logging.getLogger("pixelplan").warning(
                "%s: %s", env, problem
            )  # it may name folders, so visitors don't see it
            why = "could not be opened" if users_own or wanted is None else "was trained on boards that look different"
            note = f"The model of this puzzle {why}: the planner searches the true rules (oracle)."
            return Thinker(puzzle, None, ORACLE, note, str(problem))

    def _oracle(self, game: Game) -> Oracle:
        board = game.board
        assert isinstance(board, TableBoard)
        if not board.exact:
            raise InputError("the true rules know a level by its exact pixels; this needs a trained model")
        return self._oracles.get_or_make((game.env, board.name), lambda: Oracle(board.level))

    def warm_up(self) -> None:
        """Open every model and plan in one level of each puzzle, so that the first visitor need not wait."""
        for env in self.names:
            with contextlib.suppress(InputError):  # a puzzle that is not installed says so when it is opened
                board = self.board(env, FIRST_LEVEL, Limits().states)
                game = Game("", env, board, [board.start])
                search = self.searching(game).config
                one_shot(self.model(game), board.frame(board.start), board.wanted, search)

    def check(self) -> None:
        """An InputError if the user's model suits no puzzle, or the user's environment cannot be played."""
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


def _goals_of(family: Family, model: Model | None) -> Goals:
    """The goals that levels begin with: those that they show, else whatever the model takes for solved."""
    if family.has_goals:
        return "level"
    return "random" if model is None or goal_test_of(model) is None else "solved"


def _training_puzzle(name: str) -> tuple[str | None, dict[str, Any]]:
    """The puzzle that a model was trained on, None if it does not say, and that puzzle's options."""
    data = read_description(find_model(name)).get("data", {})
    options = {key: value for key, value in (data.get("options") or {}).items() if key != NOISE}
    return data.get("env"), options


def _other_shipped(env: str) -> list[Path]:
    """The folders of a puzzle's other shipped models, to compare with its usual one."""
    return sorted(folder for folder in SHIPPED.glob(f"{env}-*") if folder.is_dir())


def _training(description: Mapping[str, Any]) -> tuple[str, str]:
    """A model's label, by its training data, and a sentence about it."""
    levels = sum(end - first for first, end in description["data"]["levels"])
    return f"trained on {levels} levels", f"This model has seen only {levels} levels: watch where it errs."
