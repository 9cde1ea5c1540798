"""Each loss against a case computed by hand."""

import dataclasses
import math

import numpy as np
import pytest
import torch

from pixelplan.families.grid import ModelConfig, sizes_of
from pixelplan.families.identity import states_of_frames
from pixelplan.families.losses import (
    forward_loss,
    inverse_loss,
    level_pairs,
    look_loss,
    margin_loss,
    pull_loss,
    squared_distances,
)
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.world_model import WorldModel
from tests.tiny_world import play


def test_forward_loss_counts_misses_half_among_themselves():
    predicted = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.9]])
    target = torch.tensor([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    squared = [2.0, 0.0, 0.01]  # only the first misses by more than the tolerance
    assert forward_loss(predicted, target, 0.2, 0.5).item() == pytest.approx(0.5 * sum(squared) / 3 + 0.5 * 2.0)
    assert forward_loss(predicted[1:], target[1:], 0.2, 0.5).item() == pytest.approx(0.5 * 0.01 / 2)


def test_what_counts_as_a_miss_is_a_setting():
    torch.manual_seed(0)
    data = play(levels=3)
    levels = level_plays(data, states_of_frames(data))
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(3)], 6, 0.0)
    model = WorldModel(ModelConfig(encoder_width=8, encoder_blocks=1, context_width=8), sizes_of(data))
    usual, forgiving = (model.networks(batch, ObjectiveConfig(tolerance=most), 0.5)["forward"] for most in (0.2, 100.0))
    assert forgiving < usual, "no miss is large enough to count among the misses"


def test_how_much_rare_mistakes_count_is_a_setting():
    torch.manual_seed(0)
    data = play(levels=3)
    levels = level_plays(data, states_of_frames(data))
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(3)], 6, 0.0)
    model = WorldModel(ModelConfig(encoder_width=8, encoder_blocks=1, context_width=8), sizes_of(data))
    weights = ObjectiveConfig(tolerance=1.2)  # some steps miss by less
    little, much = (model.networks(batch, dataclasses.replace(weights, rare_share=share), 0.5) for share in (0.1, 0.9))
    assert much["forward"] > little["forward"]
    assert margin_loss(torch.tensor([0.0, 4.0]), 1.0, rare_share=1.0).item() == 1.0


def test_inverse_loss_is_the_cross_entropy():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]))
    expected = -(math.log(0.5) + math.log(0.8)) / 2
    assert inverse_loss(logits, torch.tensor([0, 2])).item() == pytest.approx(expected)


def test_inverse_loss_of_a_guess_is_the_logarithm_of_the_actions():
    assert inverse_loss(torch.zeros(4, 5), torch.arange(4)).item() == pytest.approx(math.log(5))


def test_margin_loss_counts_close_pairs_half_among_themselves():
    # ε = 0.5: distances² 0.0625 and 0 have hinges 0.75 and 1, the far one 0.
    squared = torch.tensor([0.0625, 0.0, 4.0, 1.0])
    expected = 0.5 * (1.75 / 4) + 0.5 * (1.75 / 2)
    assert margin_loss(squared, 0.5, 0.5).item() == pytest.approx(expected)
    assert margin_loss(torch.zeros(3), 0.5, 0.5).item() == pytest.approx(1.0)
    assert margin_loss(torch.full((3,), 0.3), 0.5, 0.5).item() == 0.0


def test_pull_loss_is_the_mean():
    assert pull_loss(torch.tensor([0.0, 0.5])).item() == pytest.approx(0.25)


def test_look_loss_is_the_surprise_of_attention_where_frames_differ():
    maps = torch.tensor([[[0.5, 0.25, 0.25]], [[1.0, 0.0, 0.0]], [[0.2, 0.3, 0.5]]])
    differing = torch.tensor([[True, True, False], [False, False, False], [True, True, True]])
    expected = -(math.log(0.75) + math.log(1.0)) / 2  # the second frame differs nowhere and does not count
    assert look_loss(maps, differing).item() == pytest.approx(expected, abs=1e-5)
    assert look_loss(maps, torch.zeros(3, 3, dtype=torch.bool)).item() == 0.0


def test_squared_distances_and_pairs():
    z = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])
    assert squared_distances(z)[0].tolist() == [[0, 2, 4], [2, 0, 2], [4, 2, 0]]
    different, same = level_pairs(torch.tensor([[7, 7, 3, -1]]))
    assert different[0].nonzero().tolist() == [[0, 2], [1, 2]]
    assert same[0].nonzero().tolist() == [[0, 1]]
