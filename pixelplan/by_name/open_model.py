"""Models by name: a folder, a shipped model, or the oracle."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pixelplan.envs.family import Family
from pixelplan.evaluation.chance import Chance, read_chance
from pixelplan.evaluation.play import weights_of
from pixelplan.planning import PLANNERS, OneShotConfig
from pixelplan.puzzles import PUZZLES, make_puzzle
from pixelplan.puzzles.table_family import Tables
from pixelplan.types import InputError, Model, for_frames
from pixelplan.worlds.gym_family import GymFamily

SHIPPED = Path(__file__).parents[1] / "weights"
ORACLE = "oracle"


def choose_model(
    model: str | Path | Model | None, planner: str, family: Family, other_size: bool = False
) -> tuple[Model | None, Family]:
    """The model for a planner and a family of levels, and the family with frames of that model's size.

    With `other_size`, frames keep their size: they show a larger or smaller board than the model was trained on.

    None means the oracle of a puzzle, or no model if the planner needs none.
    """
    name = model_name(model, planner, family.name)
    if name == ORACLE and not isinstance(family, Tables):
        rules = family.oracle() if isinstance(family, GymFamily) else None
        if rules is None:
            raise InputError(
                f"the oracle knows the true rules of {', '.join(PUZZLES)}, and of environments with a method oracle(), "
                "and only without noise"
            )
        return rules, family
    if name in (None, ORACLE):
        return None, family
    opened = open_model(model or family.name, family) if model is None or isinstance(model, str | Path) else model
    sizes = getattr(opened, "sizes", None)
    if sizes is not None:
        actions = getattr(opened, "actions", sizes.actions)
        if actions != len(family.action_names):
            raise InputError(
                f"the model {name!r} knows {actions} actions; {family.name} has {len(family.action_names)}"
            )
        if not other_size:
            family = family.fit((sizes.height, sizes.width))
        opened = for_frames(opened, family.shape)
    return opened, family


def model_identity(model: Model, env: str) -> str:
    """What identifies a model, for a distance learned for it alone: its weights, or whose true rules it has."""
    return weights_of(model) or f"the true rules of {env}"


def guided(model: Model | None, heuristic: str | Path | None, env: str, config: Any) -> Model | None:
    """The model with the distance that train-heuristic learned for it; an InputError if it was learned for another, or
    if the planner's search would not use it."""
    if heuristic is None:
        return model
    if getattr(getattr(config, "search", config), "frontier", None) != "best-first":
        raise InputError("a heuristic guides best-first search only; add --frontier best-first")
    if model is None:
        raise InputError("a heuristic is for planners with a model, and the oracle of a puzzle needs none")
    from pixelplan.distance.learned_distance import Guided, load_distance  # as above

    return Guided(model, load_distance(heuristic, model_identity(model, env))[0])


def calibrated(
    calibration: str | Path | None, model: Model | None, heuristic: str | Path | None, config: Any
) -> Chance | None:
    """How likely plans by this (guided) model with a planner's config are to succeed, from an evaluation's record."""
    if calibration is None:
        return None
    search = getattr(config, "search", config)
    if not isinstance(search, OneShotConfig):
        raise InputError("a calibration is for planners that search a model's latent graph")
    return read_chance(
        calibration,
        {
            "weights": weights_of(model),
            "config": dataclasses.asdict(search),
            "heuristic": None if heuristic is None else str(heuristic),
        },
    )


def model_name(model: str | Path | Model | None, planner: str, env: str) -> str | None:
    """The model's name in a record; None if the planner needs no model."""
    if not PLANNERS[planner].needs_model:
        return None
    if model is None:
        return env
    return str(model) if isinstance(model, str | Path) else type(model).__name__


def open_model(name: str | Path, family: Family) -> Model:
    """The model in a folder, or shipped under that name; an InputError if it was made for another world."""
    from pixelplan.model.checkpoint import load_model, read_description  # the oracle does without networks

    folder = find_model(name)
    data = read_description(folder).get("data") or {}
    check_world(str(name), data, family)
    model, actions = load_model(folder), len(family.action_names)
    if any(world["actions"] == actions for world in data.get("worlds", ())):
        model = model.with_actions(actions)
    return for_frames(model, family.shape) if isinstance(family, Tables) else model


def check_world(name: str, data: Mapping[str, Any], family: Family) -> None:
    """An InputError if a model was trained on another puzzle, or on boards that look different.

    `data` is what the model's folder says about its training data. Equal numbers of pixels say little: 16 × 16 cells in
    64 pixels look nothing like 8 × 8. Options that only choose among levels may differ, and so may the size of the
    board: the model itself says which it takes. A user's environment may have many names, so these are not compared.
    """
    problems = [_mismatch(name, world, family) for world in data.get("worlds") or [data]]
    if all(problems):
        raise InputError(next(filter(None, problems)))


def _mismatch(name: str, data: Mapping[str, Any], family: Family) -> str | None:
    """Why a model of one world does not fit a family; None if it does."""
    trained_on, env = data.get("env"), family.name
    if trained_on is None or {trained_on, env}.isdisjoint(PUZZLES):
        return None
    if trained_on != env:
        return f"the model {name!r} was trained on {trained_on}; {env} needs a model of its own"
    trained, wanted = (_looks(env, options) for options in (data.get("options") or {}, family.options))
    different = [setting for setting in wanted if trained[setting] != wanted[setting]]
    if not different:
        return None
    setting = different[0]
    return (
        f"the model {name!r} was trained on {env} with {setting}={trained[setting]}; with "
        f"{setting}={wanted[setting]} it needs a model of its own"
    )


def _looks(env: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """What frames of a puzzle with these options look like, without noise."""
    known = {field.name for field in dataclasses.fields(PUZZLES[env])}
    try:
        return make_puzzle(env, **{name: value for name, value in options.items() if name in known}).looks
    except TypeError:
        raise InputError(f"{env} cannot have the options {dict(options)} that the model was trained with") from None


def model_warnings(name: str | Path | None, by_goal_test: bool = False) -> list[str]:
    """What a trained model says against itself: the warnings with which its training ended.

    What it says against its goal test matters only if plans go by that.
    """
    from pixelplan.model.checkpoint import read_description

    if name is None or str(name) == ORACLE:
        return []
    findings = read_description(find_model(name)).get("findings", {})
    kinds = ("warnings", "goal_test_warnings") if by_goal_test else ("warnings",)
    return [str(sentence) for kind in kinds for sentence in findings.get(kind, [])]


def find_model(name: str | Path) -> Path:
    """The folder of a model, or of a shipped one by its name; an InputError if there is none."""
    for folder in (Path(name), SHIPPED / str(name)):
        if folder.is_dir():
            return folder
    names = ", ".join([*sorted(folder.name for folder in SHIPPED.glob("*") if folder.is_dir()), ORACLE])
    raise InputError(f"there is no model {str(name)!r}; give a folder that train wrote, or one of {names}")
