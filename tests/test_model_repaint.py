"""The network of `picture`: sweeps, and that it knows no place and no size."""

import dataclasses

import torch
from hypothesis import given
from hypothesis import strategies as st

from pixelplan.model.picture import Picture
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.repaint import SweepBlock, sweep

SMALL = PictureConfig(patches=8, width=8, wide=16)


@given(rows=st.integers(1, 9), columns=st.integers(1, 9), axis=st.sampled_from([2, 3]), seed=st.integers(0, 99))
def test_a_sweep_is_a_sum_taken_place_by_place(rows, columns, axis, seed):
    random = torch.Generator().manual_seed(seed)
    gates, values = (torch.rand(2, 4, rows, columns, generator=random, dtype=torch.float64) for _ in range(2))
    expected = torch.zeros_like(values)
    for channels, order in ((slice(0, 2), 1), (slice(2, 4), -1)):
        gate, value, total = (each[:, channels].movedim(axis, 0) for each in (gates, values, expected))
        so_far = torch.zeros_like(value[0])
        for place in range(len(value))[::order]:
            so_far = value[place] + gate[place] * so_far
            total[place] = so_far
    assert torch.allclose(sweep(gates, values, axis), expected)


def test_two_sweeps_reach_every_place_and_one_reaches_a_cross():
    torch.manual_seed(0)
    block, twice = SweepBlock(16), torch.nn.Sequential(SweepBlock(16), SweepBlock(16))
    here = torch.zeros(1, 16, 7, 6)
    there = here.clone()
    there[:, :, 2, 3] = torch.randn(16)
    reached = (block(there) - block(here)).abs().sum((0, 1)) > 0
    cross = torch.zeros(7, 6, dtype=torch.bool)
    cross[2], cross[:, 3] = True, True
    assert torch.equal(reached, cross)
    assert ((twice(there) - twice(here)).abs().sum((0, 1)) > 0).all()


def test_weights_know_no_size():
    """A board of twice the size has the same weights, and the same patches, whether frames are square or not."""
    for height, width in ((32, 32), (32, 16), (64, 128)):
        networks = Picture(SMALL, SMALL.sizes(height, width, 4))
        larger = networks.for_frames(2 * height, 2 * width)
        assert (larger.sizes.rows, larger.sizes.columns) == (2 * networks.sizes.rows, 2 * networks.sizes.columns)
        assert larger.patches.side == networks.patches.side
        ours, theirs = networks.state_dict(), larger.state_dict()
        assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_what_happens_far_from_the_rim_does_not_depend_on_where_it_is():
    """The same patches, moved by a whole place of half the lattice, are repainted in the same way."""
    torch.manual_seed(0)
    config = dataclasses.replace(SMALL, patches=32, blocks=1)
    networks = Picture(config, config.sizes(64, 64, 2))
    torch.nn.init.normal_(networks.dynamics.change.weight, std=0.1)
    images = torch.zeros(2, 3, 64, 64)
    images[0, :, 24:32, 24:32] = images[1, :, 28:36, 28:36] = torch.rand(3, 8, 8)
    networks.basis.normal_()
    context = networks.context(torch.zeros_like(images))
    change = networks.dynamics(networks._features(images), context)
    assert change[0].abs().max() > 0
    assert torch.allclose(change[0, :, :, 8:20, 8:20], change[1, :, :, 10:22, 10:22], atol=1e-4)
