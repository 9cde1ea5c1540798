"""The latent of cells: kinds, patterns from the data, what actions make of them, and learning if two things move."""

import dataclasses

import numpy as np
import pytest
import torch

from pixelplan.model.batches import level_plays, make_batch, to_images
from pixelplan.model.families.cells import CellEncoder, certain
from pixelplan.model.families.grid import ModelConfig
from pixelplan.model.losses import kinds_loss, tell_loss
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.sizes import sizes_of
from pixelplan.model.train import train
from pixelplan.model.train_config import PRESETS
from pixelplan.model.world_model import WorldModel
from pixelplan.types import Trajectories

SMALL = ModelConfig("cells", kinds=6, context_width=8)
LOOKS = np.array([[240, 240, 240], [220, 30, 30], [30, 60, 220]], np.uint8)  # floor, walker, box


def push(place: int, box: int, action: int, size: int = 5) -> tuple[int, int]:
    """A walker in a corridor pushes a box left or right, as far as there is room."""
    there = place + (1 if action else -1)
    if there == box:
        beyond = 2 * there - place
        return (there, beyond) if 0 <= beyond < size else (place, box)
    return (there, box) if 0 <= there < size else (place, box)


def draw(place: int, box: int, size: int = 5, cell: int = 4) -> np.ndarray:
    """The frame [cell,size·cell,3]."""
    kinds = np.zeros(size, int)
    kinds[place], kinds[box] = 1, 2
    return np.kron(LOOKS[kinds].transpose(1, 0)[:, None], np.ones((1, cell, cell))).transpose(1, 2, 0).astype(np.uint8)


def corridor(levels: int = 6, episodes: int = 6, steps: int = 12) -> Trajectories:
    """Random play in corridors that differ in where the walker and the box begin."""
    frames: list[np.ndarray] = []
    frame_level, rows, actions = [], [], []
    for level in range(levels):
        seen: dict[tuple[int, int], int] = {}
        random = np.random.default_rng(level)
        start = tuple(random.choice([[0, 2], [1, 3], [4, 2], [0, 3], [3, 1], [1, 2]]))
        for _ in range(episodes):
            state, row, taken = start, [], random.integers(2, size=steps)
            for step in range(steps + 1):
                if state not in seen:
                    seen[state] = len(frames)
                    frames.append(draw(*state))
                    frame_level.append(level)
                row.append(seen[state])
                if step < steps:
                    state = push(*state, int(taken[step]))
            rows.append(row)
            actions.append(taken)
    numbers = np.repeat(np.arange(levels), episodes)
    return Trajectories(
        np.stack(frames),
        np.array(frame_level),
        np.array(rows, np.int32),
        np.array(actions, np.uint8),
        numbers,
        {"env": "corridor", "actions": 2},
    )


def test_shapes_and_gradients():
    data = corridor()
    sizes = sizes_of(data)
    assert (sizes.rows, sizes.columns) == (1, 5)
    levels = level_plays(data, np.arange(len(data.frames)))
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(len(levels))], 100, 0.0)
    torch.manual_seed(0)
    model = WorldModel(SMALL, sizes)
    z = model.networks.encode(batch.images)
    torch.testing.assert_close(z.sum(-1), torch.full((len(z),), 5.0))  # one kind in each cell
    model.networks.train()(batch, ObjectiveConfig(), 0.5)["total"].backward()
    for name, parameter in model.networks.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_what_a_planner_asks():
    data = corridor(levels=1)
    model = WorldModel(SMALL, sizes_of(data), threshold=0.5)
    z = model.encode(data.frames[:3])
    after = model.step(z, model.context(data.frames[0]))
    assert z.shape == (3, 30) and after.shape == (3, 2, 30)
    assert set(after.unique().tolist()) == {0.0, 1.0}  # what it predicts is certain


def test_patterns_are_what_the_cells_show():
    encoder = CellEncoder((1, 5), 4, kinds=6)
    images = to_images(np.stack([draw(0, 2), draw(1, 3)]))
    encoder.take_patterns(images)
    kinds = encoder(images)[1].argmax(-1)  # [2,5]
    floor, walker, box = int(kinds[0, 1]), int(kinds[0, 0]), int(kinds[0, 2])
    assert len({floor, walker, box}) == 3
    assert kinds[1].tolist() == [floor, walker, floor, box, floor]


def test_how_many_frames_patterns_are_taken_from_is_a_setting():
    data = corridor(levels=1)
    (level,) = level_plays(data)
    frames = np.concatenate([level.frames[:1], 255 - level.frames[1:]])  # later frames show other things
    taken = []
    for count in (1, 1000):
        networks = WorldModel(dataclasses.replace(SMALL, pattern_frames=count), sizes_of(data)).networks
        networks.prepare([dataclasses.replace(level, frames=frames)])
        taken.append(int((networks.encoder.patterns < 2).all(3).all(2).all(1).sum()))
    assert taken == [3, 6], "what the first frame shows, or all that is ever shown"


def test_certain_keeps_the_likeliest_and_lets_gradients_through():
    chances = torch.tensor([[0.2, 0.5, 0.3]], requires_grad=True)
    (certain(chances) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert certain(chances).tolist() == [[0.0, 1.0, 0.0]]
    assert chances.grad is not None and chances.grad.tolist() == [[1.0, 2.0, 3.0]]


def test_losses_by_hand():
    right, wrong = torch.tensor([[[0.8, 0.2]]]), torch.tensor([[[0.4, 0.6]]])
    kinds = torch.tensor([[[1.0, 0.0]]])
    assert kinds_loss(right, kinds).item() == pytest.approx(0.5 * -np.log(0.8), abs=1e-4)
    assert kinds_loss(wrong, kinds).item() == pytest.approx(-np.log(0.4), abs=1e-4)  # missed: it counts twice
    one, other = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    assert tell_loss(one, other).item() == pytest.approx(0.0, abs=1e-3)
    half = torch.tensor([[0.5, 0.5]])
    assert tell_loss(half, half).item() == pytest.approx(2 * np.log(2), abs=1e-2)
    assert tell_loss(one, one).item() > 5


def test_training_chooses_cells_if_two_things_move_and_learns_them(tmp_path):
    data = corridor()
    config = dataclasses.replace(PRESETS["tiny"], updates=300, quiet=True, threads=1)
    model = train(data, tmp_path / "model", config, data)
    assert model.config.family == "cells"
    z, context = model.encode(data.frames), model.context(data.frames[0])
    before, after = data.episodes[:, :-1].ravel(), data.episodes[:, 1:].ravel()
    predicted = model.step(z, context)[before, data.actions.ravel().astype(int)]
    assert (predicted == z[after]).all(-1).float().mean() > 0.99
