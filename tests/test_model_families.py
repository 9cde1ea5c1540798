"""Every family of models through the same tests, and the race between them."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from pixelplan.families.grid import ModelConfig
from pixelplan.families.paper import PaperConfig
from pixelplan.families.rules import RulesConfig
from pixelplan.families.vector import VectorConfig
from pixelplan.model import race
from pixelplan.model.batches import LevelPlay, level_plays, make_batch
from pixelplan.model.checkpoint import load_model
from pixelplan.model.find_family import FAMILIES, config_from, family_of
from pixelplan.model.findings import goals_seen, recorded_depths
from pixelplan.model.metrics import rollout_exactness, step_errors
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.race import train_best
from pixelplan.model.sizes import Sizes
from pixelplan.model.train import short_run, train
from pixelplan.model.train_config import RaceConfig, TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.reports.summaries import summarise_training
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command
from tests.test_data_contents import leapers
from tests.tiny_world import play

GRID = ModelConfig("position", dimensions=8, encoder_width=8, context_width=8)
SMALL = {
    "picture": PictureConfig(patches=8, width=8, wide=16),
    "vector": VectorConfig(dimensions=16, planes=4, width=16),
    "rules": RulesConfig(kinds=6, questions=256),
    "position": GRID,
    "noisy": dataclasses.replace(GRID, noisy=True),
    "latent": dataclasses.replace(GRID, family="latent"),
    "paper": PaperConfig(dimensions=8, stem=8),
}
QUICK = TrainConfig(quiet=True, threads=1, batch=4, frames=12, updates=6)


def quick(name: str, **changes) -> TrainConfig:
    return dataclasses.replace(QUICK, preset="quick", model=SMALL[name], **changes)


@pytest.mark.parametrize("name", SMALL)
def test_settings_are_read_as_they_were_written(name):
    assert config_from(json.loads(json.dumps(dataclasses.asdict(SMALL[name])))) == SMALL[name]


def test_every_family_is_tested():
    assert set(SMALL) == set(FAMILIES)


def test_the_side_of_a_vectors_planes_is_a_setting():
    networks = WorldModel(dataclasses.replace(SMALL["vector"], side=8), Sizes(16, 16, 5, 1, 1, 1)).networks
    images = torch.zeros(2, 3, 16, 16)
    assert networks.context(images).shape == (2, 4, 8, 8)
    assert networks.step(networks.encode(images)[:, None], networks.context(images)).shape == (2, 1, 5, 16)
    with pytest.raises(InputError, match="side is 6"):
        dataclasses.replace(SMALL["vector"], side=6)


@pytest.mark.parametrize("name", SMALL)
def test_what_a_planner_asks(name):
    data = play(levels=2)
    family = family_of(SMALL[name])
    model = WorldModel(*family.fit(SMALL[name], None, data), threshold=0.5)
    model.networks.prepare(level_plays(data, model.networks.states(data)))
    z, context = model.encode(data.frames[:3]), model.context(data.frames[0])
    after = model.step(z, context)
    assert after.shape == (3, 5, z.shape[1]) and after.dtype == torch.float32
    torch.testing.assert_close(model.step(z[1:2], context)[0], after[1], atol=1e-4, rtol=1e-3)
    assert model.step(z[:0], context).shape == (0, 5, z.shape[1])
    with pytest.raises(InputError, match="this model takes uint8"):
        model.encode(np.zeros((1, 8, 8, 3), np.uint8))


# What noisy looks at is certain, so there is no gradient; and rules are learned from counts.
@pytest.mark.parametrize("name", sorted(set(SMALL) - {"noisy", "rules"}))
def test_every_parameter_learns(name):
    data = play(levels=3)
    family = family_of(SMALL[name])
    torch.manual_seed(0)
    model = WorldModel(*family.fit(SMALL[name], None, data))
    levels = level_plays(data, model.networks.states(data))
    model.networks.prepare(levels)
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(3)], 100, 0.2)
    for parameter in model.networks.parameters():
        if parameter.ndim > 1 and not parameter.any():  # a last layer that begins with zeros passes no gradient on
            torch.nn.init.normal_(parameter)
    losses = model.networks.train()(batch, ObjectiveConfig(), share_done=0.9)
    losses["total"].backward()
    for parameter_name, parameter in model.networks.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_bytes_and_so_does_resuming(name, tmp_path):
    data = play(levels=4)
    whole = train(data, tmp_path / "whole", quick(name))
    train(data, tmp_path / "first", quick(name), until=0.5)
    resumed = train(data, tmp_path / "second", quick(name), after=tmp_path / "first")
    loaded = load_model(tmp_path / "whole")
    ours, theirs, read = (model.networks.state_dict() for model in (whole, resumed, loaded))
    assert all(torch.equal(ours[key], theirs[key]) and torch.equal(ours[key], read[key]) for key in ours)


@pytest.mark.parametrize("name", ["picture", "vector"])
def test_two_levels_are_learned_to_the_last_step(name, tmp_path):
    data = play(levels=2)
    model = train(data, tmp_path / "model", quick(name, updates=400, batch=2, frames=100), data)
    levels = level_plays(data)
    assert step_errors(model, levels).exact == 1.0
    assert rollout_exactness(model.networks, levels, (1, 50), walks=10) == {1: 1.0, 50: 1.0}
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert description["validation_metrics"]["exact"] == 1.0 and not description["findings"]["warnings"]


def test_a_picture_can_be_drawn(tmp_path):
    data = play(levels=1)
    model = train(data, tmp_path / "model", quick("picture", updates=5), data)
    drawn = model.shown(model.encode(data.frames[:4]), data.frames[0])
    assert np.array_equal(drawn[0], data.frames[0]), "the frame itself"
    far = np.abs(drawn[1].astype(int) - data.frames[1]).mean()
    assert far < np.abs(data.frames[0].astype(int) - data.frames[1]).mean(), "nearer to what it stands for"
    vector = train(data, tmp_path / "vector", quick("vector", updates=2), data)
    assert vector.shown(vector.encode(data.frames[:1]), data.frames[0]) is None


def test_the_winner_of_a_race_trains_on(tmp_path, monkeypatch):
    data = play(levels=4)
    config = dataclasses.replace(QUICK, candidates=(SMALL["vector"], SMALL["picture"]), updates=20)
    exact = {"vector": 0.3, "picture": 0.6}
    monkeypatch.setattr(
        race,
        "short_run",
        lambda data, out, config, validation: [
            {"exact": exact[config.model.family], "lasting": exact[config.model.family], "seconds": 1.0, "updates": 9}
        ],
    )
    model = train_best(data, tmp_path / "model", config)
    assert model.config.family == "picture"
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert [(run["family"], run["exact"]) for run in description["race"]] == [("vector", 0.3), ("picture", 0.6)]
    assert summarise_training(description)[0] == (
        "race (score): vector (dimensions 16, planes 4, width 16) 0.3000, picture (patches 8, width 8, wide 16) 0.6000"
    )
    exact["vector"] = 1.0  # nothing could be better: the second does not run
    assert train_best(data, tmp_path / "again", config).config.family == "vector"
    exact.update(vector=0.5, picture=0.5)  # a tie goes to the more general, which is the earlier
    assert train_best(data, tmp_path / "tie", config).config.family == "vector"


def test_a_short_run_ends_when_it_is_good_enough_to_win(tmp_path):
    config = dataclasses.replace(quick("picture", updates=400), race=RaceConfig(good=0.0))
    assert [row["updates"] for row in short_run(play(levels=4), tmp_path, config, None)] == [100]


def test_a_short_run_has_a_limit(tmp_path):
    race = RaceConfig(updates=150, good=1.1)  # never good enough
    config = dataclasses.replace(quick("picture", updates=400), race=race)
    rows = short_run(play(levels=4), tmp_path / "run", config, None)
    assert [row["updates"] for row in rows] == [100, 200], "whole passes"
    assert short_run(play(levels=4), tmp_path / "run", config, None) == rows, "finished"


def test_a_race_is_run_resumed_and_refused(tmp_path):
    data = play(levels=4)
    config = dataclasses.replace(QUICK, candidates=(SMALL["picture"], SMALL["position"]), updates=20)
    model = train_best(data, tmp_path / "model", config)
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "config.json",
        "curves.png",
        "metrics.jsonl",
        "weights.safetensors",
    }
    again = train_best(data, tmp_path / "model", config, resume=True)
    ours, theirs = model.networks.state_dict(), again.networks.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    with pytest.raises(InputError, match="already holds a trained model"):
        train_best(data, tmp_path / "model", config)


def test_a_family_that_refuses_a_world_has_only_lost_at_once(tmp_path):
    config = dataclasses.replace(QUICK, candidates=(SMALL["picture"], SMALL["position"]), race=RaceConfig(good=1.1))
    entries = race.run(leapers(2), tmp_path, config, None)
    assert [entry["family"] for entry in entries] == ["picture", "position"]
    assert entries[1]["score"] == -1 and entries[1]["seconds"] == 0
    assert "more than one thing changes" in entries[1]["problem"]
    assert not list((tmp_path / "1-position").iterdir()), "no step was taken"


def test_a_model_of_a_family_that_is_gone_is_named(tmp_path):
    train(play(levels=2), tmp_path / "model", quick("position", updates=1))
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    del config["seal"]
    for gone in ("cells", "auto", ["cells"]):
        config["model"]["family"] = gone
        (tmp_path / "model" / "config.json").write_text(json.dumps(config))
        with pytest.raises(InputError, match="unknown to this version; train it again"):
            load_model(tmp_path / "model")
    assert "family" in one_sentence(run_command("inspect", str(tmp_path / "model"), code=2))


def test_a_damaged_run_has_not_lost_the_race(tmp_path):
    data, config = (
        play(levels=4),
        dataclasses.replace(QUICK, candidates=(SMALL["picture"], SMALL["vector"]), updates=20),
    )
    race.run(data, tmp_path / "model" / race.RACE, config, None)
    checkpoint = next((tmp_path / "model" / race.RACE).glob("0-picture/*.safetensors"))
    whole = bytearray(checkpoint.read_bytes())
    whole[-5] ^= 1
    checkpoint.write_bytes(whole)
    with pytest.raises(InputError, match="damaged"):
        train_best(data, tmp_path / "model", config, resume=True)


def test_findings_in_another_form_are_refused():
    findings = {"lattice": ["x", 1], "family": "picture", "warnings": []}
    for damaged in ({"findings": findings}, {"findings": {}}, {"findings": {**findings, "lattice": [1, 1]}}):
        with pytest.raises(InputError, match="damaged"):
            summarise_training(damaged)


def test_goals_are_told_against_how_far_play_came():
    frames, actions = np.zeros((4, 2, 2, 3), np.uint8), np.zeros((2, 3), np.int64)
    episodes = np.array([[0, 1, 2, 3], [0, 2, 2, 2]])  # the second one takes a shortcut
    silent = LevelPlay(frames, np.arange(4), episodes, actions)
    solved, not_solved = (
        dataclasses.replace(silent, solved=np.array(flags, np.int8)) for flags in ([0, 0, 0, 1], [0, 0, 0, 0])
    )
    assert recorded_depths(silent).tolist() == [0, 1, 1, 2]
    assert goals_seen([silent]) is None
    assert goals_seen([not_solved]) == {"levels": 0, "of": 1, "steps": None}
    assert goals_seen([silent, solved, not_solved]) == {"levels": 1, "of": 2, "steps": 2.0}


def test_a_race_resumes_with_the_same_settings_only(tmp_path):
    data, config = play(levels=4), dataclasses.replace(QUICK, candidates=(SMALL["picture"],), updates=20)
    race.run(data, tmp_path / "model" / race.RACE, config, None)
    with pytest.raises(InputError, match="begun with other settings or data"):
        train_best(data, tmp_path / "model", dataclasses.replace(config, seed=1), resume=True)


def test_a_world_that_is_not_learned_says_so(tmp_path):
    data = play(levels=6)
    train(data, tmp_path / "model", quick("picture", updates=1))
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert any("this world was not learned" in sentence for sentence in description["findings"]["warnings"])
    assert summarise_training(description)[-1].startswith("warning: this world was not learned")


def test_half_a_margin_is_refused_by_a_family_without_one(tmp_path):
    with pytest.raises(InputError, match="picture has no margin"):
        train(play(levels=2), tmp_path / "model", quick("picture", threshold="half-margin"))
