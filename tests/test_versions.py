"""Training and planning do what their versions did: if a change alters their results, raise the version.

Records name versions (`experiments/specs.py`), so earlier results are not taken for present ones. After raising a
version, `python -m tests.test_versions` writes the file again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pixelplan
from pixelplan.model import train as training
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.find_family import FAMILIES, family_of
from pixelplan.model.metrics import rollout_exactness
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.planning import PLANNERS
from tests.test_model_families import SMALL
from tests.tiny_world import play

GOLDEN = Path(__file__).parent / "golden" / "versions.json"
UPDATES = 3


def losses(name: str) -> dict[str, float]:
    """The losses of a family after a few gradient steps on a small world; exactness if it learns without them.

    On one thread, whatever other tests have set: sums may depend on how work is shared.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data, config = play(levels=3), TrainConfig()
    family = family_of(SMALL[name])
    networks = WorldModel(*family.fit(SMALL[name], None, data)).networks
    levels = level_plays(data, networks.states(data))
    networks.prepare(levels)
    if networks.at_once:
        return {"exact after 5 steps": rollout_exactness(networks.eval(), levels, (5,))[5]}
    optimizer = networks.optimizer(config.learning_rate, config.weight_decay)
    for update in range(UPDATES):
        randoms = [np.random.default_rng([update, place]) for place in range(3)]
        batch = make_batch(levels, randoms, 6, config.colour * networks.changes_colours, networks.scattered)
        of_batch = networks.train()(batch, config.objective, (update + 1) / UPDATES)
        optimizer.zero_grad()
        of_batch["total"].backward()
        torch.nn.utils.clip_grad_norm_(networks.parameters(), 1.0)
        optimizer.step()
    return {key: round(value.item(), 6) for key, value in of_batch.items()}


def episodes(name: str) -> list[list[int]]:
    """How a planner plays a few levels with the true rules: steps and nodes."""
    result = pixelplan.evaluate("digit-jump", "1000:1005", planner=name, model="oracle")
    return [[episode.steps, episode.nodes] for episode in result.episodes]


def versions() -> dict[str, int]:
    """All versions by name."""
    families = {name: FAMILIES[name].networks.version for name in SMALL}
    return {"training": training.VERSION, **families, **{name: planner.version for name, planner in PLANNERS.items()}}


def golden() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(GOLDEN.read_text())
    return recorded


@pytest.mark.parametrize("name", SMALL)
def test_a_family_trains_as_its_version_did(name: str) -> None:
    kept = golden()
    assert kept["versions"][name] == FAMILIES[name].networks.version, "write the file again"
    now = losses(name)
    assert now == pytest.approx(kept["losses"][name], rel=1e-2, abs=1e-3), f"raise the version of {name}"


@pytest.mark.parametrize("name", PLANNERS)
def test_a_planner_plays_as_its_version_did(name: str) -> None:
    kept = golden()
    assert kept["versions"][name] == PLANNERS[name].version, "write the file again"
    assert episodes(name) == kept["episodes"][name], f"raise the version of {name}"


def test_an_edited_loss_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from pixelplan.families import metric

    usual = metric.margin_loss
    monkeypatch.setattr(metric, "margin_loss", lambda distances, margin, *rest: usual(distances, 1.1 * margin, *rest))
    assert losses("position") != pytest.approx(golden()["losses"]["position"], rel=1e-2, abs=1e-3)


def test_everything_with_a_version_is_watched() -> None:
    assert golden()["versions"] == versions(), "write the file again"


if __name__ == "__main__":
    kept = {"losses": {name: losses(name) for name in SMALL}, "episodes": {name: episodes(name) for name in PLANNERS}}
    GOLDEN.write_text(json.dumps({"versions": versions(), **kept}, indent=1) + "\n")
