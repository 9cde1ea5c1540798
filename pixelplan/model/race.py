"""Which family learns a world: a short run each, and the one that predicts held-out frames best goes on.

Nothing is decided by looking at pixels. Families come in order of generality. A tie goes to the earlier one, and one
that already predicts everything ends the race at once: nothing later could be better.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Any

from pixelplan.model.checkpoint import CONFIG, read_description
from pixelplan.model.config import TrainConfig
from pixelplan.model.schedule import LEARNED
from pixelplan.model.train import short_run, train
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError, Trajectories

RACE = "race"
"""The folder, inside the model's, of what ran. It is removed when training is finished."""
SHORT = 300
"""Gradient steps of a short run."""


def train_best(
    data: Trajectories,
    out: str | Path,
    config: TrainConfig,
    validation: Trajectories | None = None,
    resume: bool = False,
) -> WorldModel:
    """Train into folder `out`: the config's own family or, if it names candidates, the one that wins their race."""
    out = Path(out)
    if config.candidates is None:
        return train(data, out, config, validation, resume)
    config.check()
    if not resume and out.exists() and any(out.iterdir()):
        holds = "a trained model" if (out / CONFIG).exists() else "something; --resume goes on if it is this training"
        raise InputError(f"{out} already holds {holds}")
    if (out / CONFIG).exists():
        entries = read_description(out).get("race")
        if not entries:
            raise InputError(f"{out} holds a model that won no race; choose another folder")
    else:
        entries = run(data, out / RACE, config, validation)
    best = max(entries, key=lambda entry: (entry["exact"], -entry["place"]))
    own = _of(config, best["place"])
    begun = _folder(out / RACE, own, best["place"])
    model = train(data, out, own, validation, True, after=begun if begun.exists() else None, race=entries)
    shutil.rmtree(out / RACE, ignore_errors=True)
    return model


def run(data: Trajectories, folder: Path, config: TrainConfig, validation: Trajectories | None) -> list[dict[str, Any]]:
    """The race itself: how exactly each candidate that ran predicts after its short run, in order of running."""
    entries: list[dict[str, Any]] = []
    for place, _ in enumerate(config.candidates or ()):
        own = _of(config, place)
        if not own.quiet:
            print(f"race: {own.model.family} runs for {SHORT} updates", file=sys.stderr)
        rows = short_run(data, _folder(folder, own, place), own, validation, SHORT)
        exact = max(row["exact"] for row in rows)
        entries.append({"place": place, "family": own.model.family, "exact": exact, "seconds": rows[-1]["seconds"]})
        if exact >= LEARNED:
            break
    return entries


def _of(config: TrainConfig, place: int) -> TrainConfig:
    """The config of the candidate in a place."""
    assert config.candidates is not None
    return dataclasses.replace(config, model=config.candidates[place], candidates=None)


def _folder(race: Path, config: TrainConfig, place: int) -> Path:
    return race / f"{place}-{config.model.family}"
