"""Which candidate learns a world: each gets a short run, and the one that predicts held-out frames best goes on.

Candidates are families, or one family with different settings. Nothing is decided by looking at pixels. They run in
order, the more general or simpler ones first. One that predicts nearly everything ends the race at once, so the others
run only if it fails. A tie goes to the earlier one.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Any

from pixelplan.model.checkpoint import CONFIG, read_description
from pixelplan.model.find_family import Config
from pixelplan.model.schedule import score
from pixelplan.model.train import OtherTraining, short_run, train
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.train_data import RecordedPlay
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError

RACE = "race"
"""The folder of the runs, inside the model's folder. It is removed when training is finished."""


def train_best(
    data: RecordedPlay,
    out: str | Path,
    config: TrainConfig,
    validation: RecordedPlay | None = None,
    resume: bool = False,
    init: Path | None = None,
) -> WorldModel:
    """Train into folder `out`: the config's family or, if it names candidates, the one that wins their race.

    With `init`, the folder of a model, there is no race: training starts from that model's weights.
    """
    out = Path(out)
    if config.candidates is None or init is not None:
        return train(data, out, config, validation, resume, init=init)
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
    winner = _candidate(config, best["place"])
    folder = _folder(out / RACE, winner, best["place"])
    after = folder if folder.exists() else None
    model = train(data, out, winner, validation, True, after=after, race=entries)
    shutil.rmtree(out / RACE, ignore_errors=True)
    return model


def run(data: RecordedPlay, folder: Path, config: TrainConfig, validation: RecordedPlay | None) -> list[dict[str, Any]]:
    """The race itself: how well each candidate that ran predicts in the end, in order of generality."""

    def predicts(place: int) -> dict[str, Any]:
        candidate = _candidate(config, place)
        if not candidate.quiet:
            print(f"race: {title_of(candidate.model)} runs for at most {config.race.updates} updates", file=sys.stderr)
        entry: dict[str, Any] = {"place": place, "family": candidate.model.family, "name": title_of(candidate.model)}
        try:
            rows = short_run(data, _folder(folder, candidate, place), candidate, validation)
        except OtherTraining:
            raise
        except InputError as problem:  # a family that cannot learn this world has merely lost
            return {**entry, "score": -1.0, "seconds": 0.0, "problem": str(problem)}
        best = max(rows, key=score)
        return {
            **entry,
            "updates": rows[-1]["updates"],
            "score": score(best),
            **{name: best[name] for name in ("exact", "lasting")},
            "seconds": rows[-1]["seconds"],
        }

    entries = []
    for place, _ in enumerate(config.candidates or ()):
        entries.append(predicts(place))
        if entries[-1]["score"] >= config.race.good:
            break
    if all("problem" in entry for entry in entries):
        raise InputError(entries[0]["problem"])
    return entries


def title_of(model: Config) -> str:
    """What to call a candidate: its family, and any settings that differ from the family's defaults."""
    usual = dataclasses.asdict(type(model)())
    other = [f"{name} {value}" for name, value in dataclasses.asdict(model).items() if value != usual[name]]
    return f"{model.family} ({', '.join(other)})" if other else str(model.family)


def _candidate(config: TrainConfig, place: int) -> TrainConfig:
    """The config of the candidate at this place in the order."""
    assert config.candidates is not None
    return dataclasses.replace(config, model=config.candidates[place], candidates=None)


def _folder(race: Path, config: TrainConfig, place: int) -> Path:
    return race / f"{place}-{config.model.family}"
