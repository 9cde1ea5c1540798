"""What the settings of training change, and that a model's record names them."""

import dataclasses
import math

import pytest
import torch

from pixelplan.families.grid import ModelConfig
from pixelplan.files import read_json, write_json
from pixelplan.model.batches import BatchConfig
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.goal_test import GoalTestConfig
from pixelplan.model.metrics import MetricsConfig
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.progress import collapse_warning
from pixelplan.model.schedule import ScheduleConfig, one_cycle, plan_passes
from pixelplan.model.train import train
from pixelplan.types import InputError
from tests.tiny_world import TINY, play


def test_a_collapse_is_reported():
    row, usual = {"pass": 3, "inverse": math.log(5), "margin": 0.99}, JudgingConfig()
    warning = collapse_warning(row, 5, usual)
    assert "all alike" in str(warning) and "try" in str(warning)
    assert collapse_warning({**row, "inverse": 1.0}, 5, usual) is None
    assert collapse_warning({**row, "margin": 0.4}, 5, usual) is None
    assert "all alike" in str(collapse_warning({**row, "margin": 0.4}, 5, JudgingConfig(collapsed=0.3)))
    assert "all alike" in str(collapse_warning({**row, "inverse": 1.0}, 5, JudgingConfig(guessing=0.6)))
    assert "all alike" in str(collapse_warning({"pass": 3, "margin": 0.99}, 5, usual))


def test_the_schedule():
    def passes(levels: int, updates: int) -> tuple[int, int]:
        schedule = plan_passes(levels, 8, updates, until_learned=False)
        return schedule.passes, schedule.updates

    assert passes(1000, 1500) == (12, 125)
    assert passes(10, 1500) == (15, 100)
    assert passes(10_000, 1500) == (2, 1250)
    assert one_cycle(0.05) == pytest.approx(1.0) and one_cycle(1.0) == pytest.approx(0.0, abs=1e-9)


def test_training_ends_when_it_has_learned():
    def row(share: float) -> dict[str, float]:
        return {"exact": share, "lasting": share}

    schedule = plan_passes(1000, 8, 3750, until_learned=True)
    rising = [row(0.1 * number) for number in range(1, 7)]
    assert schedule.passes == 30 and schedule.last_pass(rising) == 30
    assert schedule.last_pass([*rising, row(1.0)]) == 7 + 4, "learned: settle for half as long"
    assert schedule.last_pass([*rising, row(0.997), row(0.999)]) == 30, "nearly learned, and still rising"
    assert schedule.last_pass([*rising, row(0.999), row(0.998)]) == 8 + 4, "nearly learned, and no longer rising"
    assert schedule.last_pass([*rising, *[row(0.5)] * 4]) == 10 + 5, "no better for four passes"
    assert schedule.last_pass([row(1.0)]) == 1 + 3, "learned at once: settle for 300 gradient steps"
    assert plan_passes(1000, 8, 3750, True, ScheduleConfig(least_settling=0)).last_pass([row(1.0)]) == 1 + 1
    impatient = plan_passes(1000, 8, 3750, True, ScheduleConfig(patience=2, settling=1.0))
    assert impatient.last_pass([*rising, *[row(0.5)] * 5]) == 16
    assert schedule.rate(rising, 0.5) == 1.0
    assert schedule.rate([*rising, row(1.0)], 0.0) == 1.0 > schedule.rate([*rising, row(1.0)], 0.5)


@pytest.mark.parametrize(
    "changes",
    [
        {"gradient_limit": 0.01},
        {"batches": BatchConfig(offset=0.0)},
        {"schedule": ScheduleConfig(first_rate=0.5)},
        {"schedule": ScheduleConfig(cycle_warm_up=0.5)},
    ],
    ids=str,
)
def test_a_setting_changes_the_weights_and_is_recorded(changes, tmp_path):
    config = dataclasses.replace(TINY, updates=4)
    usual = train(play(levels=1), tmp_path / "usual", config).networks
    other = train(play(levels=1), tmp_path / "other", dataclasses.replace(config, **changes)).networks
    assert any(not torch.equal(one, two) for one, two in zip(usual.parameters(), other.parameters(), strict=True))
    recorded = read_json(tmp_path / "other" / "config.json")["config"]
    assert {name: recorded[name] for name in changes} == {
        name: dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value for name, value in changes.items()
    }


def test_a_model_from_before_a_setting_was_added_is_still_the_model_asked_for(tmp_path):
    config = dataclasses.replace(TINY, updates=2)
    trained = train(play(levels=1), tmp_path / "model", config)
    description = read_json(tmp_path / "model" / "config.json")
    for part, name in (("config", "muon"), ("config", "gradient_limit")):
        del description[part][name]
    for part, name in (("judging", "walks"), ("schedule", "first_rate"), ("model", "least_updates")):
        del description["config"][part][name]
    write_json(tmp_path / "model" / "config.json", description)
    again = train(play(levels=1), tmp_path / "model", config, resume=True)
    assert again.threshold == trained.threshold
    with pytest.raises(InputError, match="begun with other config"):
        train(play(levels=1), tmp_path / "model", dataclasses.replace(config, gradient_limit=2.0), resume=True)


def test_how_many_levels_are_held_out_and_walked_in_are_settings(tmp_path):
    judging = JudgingConfig(
        held_out_every=3, walks=1, metrics=MetricsConfig(ranked_episodes=2, rollout_steps=(1, 3)), long_rollout=4
    )
    train(play(levels=6), tmp_path / "model", dataclasses.replace(TINY, updates=2, judging=judging))
    measured = read_json(tmp_path / "model" / "config.json")["validation_metrics"]
    assert measured["levels"] == 2 and set(measured["rollouts"].values()) <= {0.0, 1.0}
    assert list(measured["rollouts"]) == ["1", "3", "4"]
    assert {ranking["episodes"] for ranking in measured["rankings"]} == {2}
    with pytest.raises(InputError, match="held_out_every is 1"):
        train(play(levels=1), tmp_path / "none", dataclasses.replace(TINY, judging=JudgingConfig(held_out_every=1)))


def test_the_paper_threshold(tmp_path):
    config = dataclasses.replace(TINY, updates=2, threshold="half-margin", objective=ObjectiveConfig(margin=0.6))
    assert train(play(levels=1), tmp_path / "model", config).threshold == pytest.approx(0.3)


def test_impossible_settings(tmp_path):
    with pytest.raises(InputError, match="updates is 0"):
        train(play(levels=1), tmp_path / "model", dataclasses.replace(TINY, updates=0))
    for even in (2, 0, -1, 33):
        goal_test = GoalTestConfig(neighbourhood=even)
        with pytest.raises(InputError, match="neighbourhood"):
            train(play(levels=1), tmp_path / "model", dataclasses.replace(TINY, goal_test=goal_test))
    with pytest.raises(InputError, match="only the family position can learn from noisy frames, not latent"):
        ModelConfig("latent", noisy=True)
    assert not (tmp_path / "model").exists()
