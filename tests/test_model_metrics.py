"""Metrics and calibration against cases computed by hand, with a model that is a table."""

import dataclasses

import numpy as np
import pytest
import torch

from pixelplan.model.batches import LevelPlay, level_plays
from pixelplan.model.calibrate import JudgingConfig, calibrate, rates
from pixelplan.model.find_family import family_of
from pixelplan.model.metrics import MetricsConfig, StepErrors, rankings, rollout_exactness, step_errors
from pixelplan.model.world_model import WorldModel
from tests.test_model_families import SMALL
from tests.tiny_world import play


class Table:
    """A model of one level with frames of one pixel, whose red value is the state: a walk along a line.

    `wrong` makes the prediction from that state lead back to state 0.
    """

    threshold = 0.5
    noisy = False

    def __init__(self, wrong: int = -1) -> None:
        self.wrong = wrong

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(frames[:, 0, 0, :2].astype(np.float32))

    def context(self, frame: np.ndarray) -> None:
        return None

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        after = z + torch.tensor([1.0, 0.0])
        after = torch.where(z[:, :1] == self.wrong, 0.0, after)
        return torch.stack([z, after], dim=1)


def line(states: list[int], shown: int = 12) -> LevelPlay:
    """A level of twelve frames with the given states, walked from one end to the other; action 1 goes on."""
    frames = np.zeros((shown, 1, 1, 3), np.uint8)
    frames[:, 0, 0, 0] = np.arange(shown)
    return LevelPlay(frames, np.array(states), np.arange(shown)[None], np.ones((1, shown - 1), np.int64))


def test_an_exact_model_ranks_first():
    ranked = rankings(Table(), [line(list(range(12)))])
    assert [(ranking.horizon, ranking.hits, ranking.reciprocal_rank, ranking.episodes) for ranking in ranked] == [
        (1, 1.0, 1.0, 1),
        (5, 1.0, 1.0, 1),
        (10, 1.0, 1.0, 1),
    ]


def test_rank_counts_the_states_that_are_nearer():
    # From state 3 the model falls back to 0, so after 5 steps it is at 1; the states 1, 0, 2, 3, 4 (five) are nearer
    # to that than 5 is.
    ranked = {ranking.horizon: ranking for ranking in rankings(Table(wrong=3), [line(list(range(12)))])}
    assert ranked[1].hits == 1.0
    assert ranked[5].hits == 0.0 and ranked[5].reciprocal_rank == pytest.approx(1 / 6)


def test_frames_of_the_right_state_count_as_right_and_states_are_counted_once():
    # As before, but the frames 1 and 5 show the same state.
    states = [0, 5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    ranked = {ranking.horizon: ranking for ranking in rankings(Table(wrong=3), [line(states)])}
    assert ranked[5].hits == 1.0
    # ... or the frames 0 to 4 all show one state: it is one rival, not five.
    ranked = {
        ranking.horizon: ranking for ranking in rankings(Table(wrong=3), [line([0, 0, 0, 0, 0, 5, 6, 7, 8, 9, 10, 11])])
    }
    assert ranked[5].reciprocal_rank == pytest.approx(1 / 2)


def test_what_is_ranked_is_a_setting():
    once = line(list(range(12)))
    thrice = dataclasses.replace(once, episodes=once.episodes.repeat(3, 0), actions=once.actions.repeat(3, 0))
    assert rankings(Table(), [thrice])[0].episodes == 3
    assert rankings(Table(), [thrice], config=MetricsConfig(ranked_episodes=2))[0].episodes == 2
    # The first action changed nothing, so the prediction is state 1, which is seen only later in the episode.
    late = dataclasses.replace(once, episodes=np.array([[0, *range(11)]]))
    assert rankings(Table(), [late])[0].hits == 0.0
    assert rankings(Table(), [late], config=MetricsConfig(ranked_frames=2))[0].hits == 1.0


def test_after_how_many_steps_predictions_are_ranked_is_a_setting():
    ranked = rankings(Table(), [line(list(range(12)))], MetricsConfig(ranked_steps=(2, 11)))
    assert [ranking.horizon for ranking in ranked] == [2, 11]


@pytest.mark.parametrize(("shared", "levels"), [(5, 1), (1, 3)])
def test_how_many_rollouts_share_a_level_is_a_setting(shared, levels, monkeypatch):
    data = play(levels=3)
    model = WorldModel(*family_of(SMALL["vector"]).fit(SMALL["vector"], None, data))
    encoded = []
    encode = model.networks.encode
    monkeypatch.setattr(model.networks, "encode", lambda images: encoded.append(images) or encode(images))
    config = MetricsConfig(walks_per_level=shared)
    rollout_exactness(model.networks.eval(), level_plays(data), (1,), walks=3, config=config)
    assert len(encoded) == levels


class LineNetworks(torch.nn.Module):
    """`Table` as networks, of images with red values from -0.5 to 0.5."""

    def __init__(self, wrong: int = -1) -> None:
        super().__init__()
        self.table, self.unused = Table(wrong), torch.nn.Linear(1, 1)

    def for_frames(self, height: int, width: int) -> "LineNetworks":
        return self

    def encode(self, images: torch.Tensor) -> torch.Tensor:
        return ((images[:, :2, 0, 0] + 0.5) * 255).round() * torch.tensor([1.0, 0.0])

    def context(self, images: torch.Tensor) -> None:
        return None

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        return self.table.step(z.flatten(0, 1), None).unflatten(0, z.shape[:2])


def test_rollouts_where_no_state_recurs_count_as_far_as_play_goes():
    """Every recorded path ends after eleven steps; that is no mistake of the model."""
    right = rollout_exactness(LineNetworks(), [line(list(range(12)))], (1, 11, 100), walks=4)
    assert right == {1: 1.0, 11: 1.0, 100: 1.0}
    wrong = rollout_exactness(LineNetworks(wrong=3), [line(list(range(12)))], (1, 3, 4, 100), walks=4)
    assert wrong == {1: 1.0, 3: 1.0, 4: 0.0, 100: 0.0}


def test_one_step_accuracy_wants_the_right_state_nearest_and_near():
    errors = step_errors(Table(wrong=3), [line(list(range(12)))])
    assert errors.accuracy(0.5) == pytest.approx(10 / 11)
    assert errors.separation.tolist() == [1.0] * 12
    by_hand = StepErrors(np.array([0.1, 0.4, 0.2]), np.array([1.0, 1.0, 0.1]), np.ones(3))
    assert by_hand.accuracy(0.3) == pytest.approx(1 / 3)


def test_calibration_takes_the_middle_of_the_gap():
    errors = StepErrors(np.array([0.0, 0.1, 0.2]), np.array([0.8, 0.9, 1.0]), np.array([0.8, 0.9]))
    calibration = calibrate(errors)
    assert calibration.threshold == pytest.approx(0.5, abs=0.01)
    assert calibration.missed == calibration.confused == calibration.merged == 0.0


def test_with_slack_the_threshold_keeps_away_from_the_nearest_states():
    # One prediction in a hundred is nearly as wrong as states are apart: without slack that one decides.
    errors = StepErrors(np.array([0.01] * 99 + [0.48]), np.full(100, 0.49), np.full(100, 0.49))
    assert calibrate(errors).threshold > 0.48
    assert calibrate(errors, config=JudgingConfig(candidates=1)).threshold == errors.other.max()
    assert calibrate(errors, config=JudgingConfig(slack=1.5)).threshold < 0.49 / 1.5 + 0.01


def test_zeros_and_ones_are_equal_if_that_makes_no_more_mistakes():
    exact = StepErrors(np.zeros(3), np.full(3, 3.5), np.full(2, 3.5))
    assert calibrate(exact).threshold == pytest.approx(1.75, abs=0.01)
    assert calibrate(exact, discrete=True).threshold == pytest.approx(0.5, abs=0.01)
    doubtful = StepErrors(np.full(3, 2**0.5), np.full(3, 3.5), np.full(2, 3.5))
    assert calibrate(doubtful, discrete=True).threshold > 2**0.5, "predictions are a cell beside the truth"


def test_calibration_weighs_both_mistakes():
    # Errors up to 0.6 for one in ten, another state at 0.3 for three in ten: better to miss the one.
    right = np.array([0.1] * 9 + [0.6])
    other = np.array([0.3] * 3 + [1.0] * 7)
    calibration = calibrate(StepErrors(right, other, other))
    assert 0.1 < calibration.threshold < 0.3
    assert calibration.missed == pytest.approx(0.1) and calibration.confused == 0.0
    fixed = rates(StepErrors(right, other, other), 0.5)
    assert fixed.missed == pytest.approx(0.1) and fixed.confused == pytest.approx(0.3)


def test_levels_are_taken_apart_and_put_together_again():
    data = play(levels=3)
    shuffled = np.random.default_rng(0).permutation(len(data.episodes))
    mixed = dataclasses.replace(
        data,
        episodes=data.episodes[shuffled],
        actions=data.actions[shuffled],
        episode_level=data.episode_level[shuffled],
    )
    for one, other in zip(
        level_plays(data, np.arange(len(data.frames))), level_plays(mixed, np.arange(len(data.frames))), strict=True
    ):
        assert (one.frames == other.frames).all()
        assert (one.steps == other.steps).all()
