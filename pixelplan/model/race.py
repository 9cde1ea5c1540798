"""Which family learns a world: a short run each, and the one that predicts held-out frames best goes on.

Nothing is decided by looking at pixels. Families come in order of generality. A tie goes to the earlier one, and one
that already predicts nearly everything ends the race at once: the rest of training brings what others could. If none
does, the best two run on: some worlds are learned late and then quickly.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Any

from pixelplan.model.checkpoint import CONFIG, read_description
from pixelplan.model.schedule import score
from pixelplan.model.train import OtherTraining, short_run, train
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError, Trajectories

RACE = "race"
"""The folder, inside the model's, of what ran. It is removed when training is finished."""


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
        holds = "a trained model" if (out / CONFIG).exists() else "something; --resume continues if it is this training"
        raise InputError(f"{out} already holds {holds}")
    if (out / CONFIG).exists():
        entries = read_description(out).get("race")
        if not entries:
            raise InputError(f"{out} holds a model that won no race; choose another folder")
    else:
        entries = run(data, out / RACE, config, validation)
    best = max(entries, key=lambda entry: (entry["score"], -entry["place"]))
    own = _of(config, best["place"])
    begun = _folder(out / RACE, own, best["place"])
    model = train(data, out, own, validation, True, after=begun if begun.exists() else None, race=entries)
    shutil.rmtree(out / RACE, ignore_errors=True)
    return model


def run(data: Trajectories, folder: Path, config: TrainConfig, validation: Trajectories | None) -> list[dict[str, Any]]:
    """The race itself: how well each candidate that ran predicts in the end, in order of generality."""

    def predicts(place: int, updates: int) -> dict[str, Any]:
        own = _of(config, place)
        if not own.quiet:
            print(f"race: {own.model.family} runs for {updates} updates", file=sys.stderr)
        entry: dict[str, Any] = {"place": place, "family": own.model.family}
        try:
            rows = short_run(data, _folder(folder, own, place), own, validation, updates)
        except OtherTraining:
            raise
        except InputError as problem:  # a family that cannot learn this world has lost, and no more
            return {**entry, "score": -1.0, "seconds": 0.0, "problem": str(problem)}
        best = max(rows, key=score)
        return {
            **entry,
            "updates": updates,
            "score": score(best),
            **{name: best[name] for name in ("exact", "lasting")},
            "seconds": rows[-1]["seconds"],
        }

    entries: dict[int, dict[str, Any]] = {}
    for place, _ in enumerate(config.candidates or ()):
        entries[place] = predicts(place, config.race.short)
        if entries[place]["score"] >= config.race.good:
            return list(entries.values())
    learned = [place for place, entry in entries.items() if "problem" not in entry]
    if not learned:
        raise InputError(entries[0]["problem"])
    best_two = sorted(learned, key=lambda place: -entries[place]["score"])[:2]
    for place in sorted(best_two) if len(best_two) > 1 else ():
        entries[place] = predicts(place, config.race.long)
        if entries[place]["score"] >= config.race.good:
            break
    return list(entries.values())


def _of(config: TrainConfig, place: int) -> TrainConfig:
    """The config of the candidate in a place."""
    assert config.candidates is not None
    return dataclasses.replace(config, model=config.candidates[place], candidates=None)


def _folder(race: Path, config: TrainConfig, place: int) -> Path:
    return race / f"{place}-{config.model.family}"
