"""The family `picture`: what its embeddings tell apart, and what its network learns from."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pixelplan.model.batches import BatchConfig, LevelPlay, level_plays, make_batch, sample_steps, to_images
from pixelplan.model.picture import Picture
from pixelplan.model.picture_config import PictureConfig
from pixelplan.types import InputError
from tests.tiny_world import play

SMALL = PictureConfig(patches=8, width=8, wide=16)


def dotted(dots: int) -> LevelPlay:
    """A large square that moves, and in it a small dot in one of several places; every frame follows every other."""
    frames = np.full((3 * dots, 32, 32, 3), 200, np.uint8)
    for place in range(3):
        for dot in range(dots):
            square = frames[place * dots + dot, 8:24, 8 * place : 8 * place + 16]
            square[:] = 20
            square[4 + 2 * dot, 4] = 120
    order = np.arange(len(frames))
    return LevelPlay(frames, order, np.stack([order, np.roll(order, 1)], 1), np.zeros((len(frames), 1), np.int64))


def separation(features: int, whitening: float) -> float:
    """How far apart the nearest two frames are, as a share of how far apart frames are on average."""
    config = dataclasses.replace(SMALL, features=features, whitening=whitening)
    networks = Picture(config, config.sizes(32, 32, 1))
    networks.prepare([dotted(4)])
    z = networks.encode(to_images(dotted(4).frames))
    distances = torch.pdist(z)
    return float(distances.min() / distances.mean())


def test_more_features_and_more_equal_ones_tell_what_is_small():
    assert separation(features=8, whitening=0.5) > 2 * separation(features=2, whitening=0.5)
    assert separation(features=8, whitening=1.0) > separation(features=8, whitening=0.0)


@given(limit=st.integers(2, 40), seed=st.integers(0, 99))
def test_scattered_steps_can_be_taken_two_at_a_time(limit, seed):
    (level,) = level_plays(play(levels=1))
    chosen = sample_steps(level, limit, np.random.default_rng(seed))
    steps = chosen.steps
    begun = np.unique(steps[:, 0])
    assert begun.tolist() == list(range(min(limit, len(np.unique(level.steps[:, 0])))))
    assert np.isin(steps[:, 2], begun).any(), "some steps lead to where others begin"


def test_how_many_of_them_lie_all_over_the_level_is_a_setting():
    (level,) = level_plays(play(levels=1))
    differ = []
    for seed in range(5):
        usual, all_over = (
            sample_steps(level, 6, np.random.default_rng(seed), config=BatchConfig(leading=share)).frames
            for share in (0.5, 1.0)
        )
        assert np.array_equal(usual[:3], all_over[:3]), "the first half lies all over the level anyway"
        differ.append(not np.array_equal(usual[:6], all_over[:6]))
    assert any(differ)


def test_a_step_that_solves_the_level_is_among_them():
    """It is one of hundreds, and every plan ends with one."""
    (level,) = level_plays(play(levels=1))
    last = int(level.steps[-1, 2])
    level = dataclasses.replace(level, solved=(np.arange(len(level.frames)) == last).astype(np.int8))

    def solves(chosen: LevelPlay) -> bool:
        moves = chosen.steps[chosen.steps[:, 0] != chosen.steps[:, 2]]
        return any((chosen.frames[after] == level.frames[last]).all() for after in moves[:, 2])

    for seed in range(20):
        assert solves(sample_steps(level, 2, np.random.default_rng(seed), solving=True))
    assert not all(solves(sample_steps(level, 2, np.random.default_rng(seed))) for seed in range(20))


def signature(config: PictureConfig) -> list[float]:
    """Numbers that tell what a network with these settings has found, decided and lost."""
    torch.manual_seed(0)
    levels = level_plays(play(levels=3))
    networks = Picture(config, config.sizes(*levels[0].frames.shape[1:3], 5))
    torch.nn.init.normal_(networks.dynamics.change.weight, std=0.1)  # untrained, it changes nothing
    networks.prepare(levels)
    networks.settle(levels)
    batch = make_batch(levels, [np.random.default_rng(level) for level in range(3)], 8, 0.0, scattered=True)
    torch.manual_seed(0)
    loss = networks(batch, None, 0.0)["total"].detach()
    of = networks.words
    return [float(value) for value in (networks.basis.abs().sum(), of[of < 1e6].abs().sum(), networks.still, loss)]


@pytest.mark.parametrize(
    "change",
    [
        {"largest_patch": 1},
        {"pattern_levels": 1},
        {"pattern_level_frames": 2},
        {"word_fineness": 0.1},
        {"unchanged": 10.0},
        {"still_levels": 1},
        {"least_still": 10.0},
        {"largest_still": 1e-5},
        {"still_bounds": 3},
        {"bad_noise": 50.0},
        {"loss_scale": 1.0},
        {"blocks": 1},
        {"heads": 2},
    ],
    ids=str,
)
def test_every_number_that_decides_is_a_setting(change):
    assert signature(dataclasses.replace(SMALL, **change)) != signature(SMALL)


def test_looks_are_counted_on_some_frames():
    known = []
    for frames in (1, 100):
        config = dataclasses.replace(SMALL, word_frames=frames)
        networks = Picture(config, config.sizes(32, 32, 1))
        networks.prepare([dotted(4)])
        known.append(int((networks.words < 1e6).all(1).sum()))
    assert known[0] < known[1]


def test_heads_divide_channels():
    with pytest.raises(InputError, match="heads is 3; it must divide wide, which is 16"):
        dataclasses.replace(SMALL, heads=3)


def test_the_network_learns_from_its_own_predictions(monkeypatch):
    """With a share of 0 it reads what was recorded only; with 1, predictions of all states that it has a step to."""
    levels = level_plays(play(levels=2))
    batch = make_batch(levels, [np.random.default_rng(0), np.random.default_rng(1)], 8, 0.0, scattered=True)
    read = {}
    for share in (0.0, 1.0):
        config = dataclasses.replace(SMALL, predicted=share, noise=0.0)
        torch.manual_seed(0)
        networks = Picture(config, config.sizes(*batch.images.shape[2:], 5))
        networks.prepare(levels)
        # A network that knows the truth but for a mark in one corner: whatever it predicts is told by the mark.
        truth = networks._features(batch.images)
        before, after = batch.images_of_steps()
        inputs = []

        def marked(features, context, before, actions, inputs=inputs, truth=truth, batch=batch):
            inputs.append(features[before].clone())
            all_before, all_after = batch.images_of_steps()
            rows = [
                int(torch.nonzero((all_before == image) & (batch.steps[:, 2] == action))[0])
                for image, action in zip(before.tolist(), actions.tolist(), strict=True)
            ]
            result = truth[all_after[rows]].clone().requires_grad_()
            mark = torch.zeros_like(result)
            mark[:, 0, 0, 0] = 1e-3
            return result + mark

        monkeypatch.setattr(networks, "_after", marked)
        networks(batch, None, 0.0)
        moved = (inputs[-1] - truth[before]).abs().amax((1, 2, 3)) > 1e-4
        reached = torch.isin(before, after[after != before])
        read[share] = moved[reached].float().mean().item(), moved[~reached].any().item()
    assert read[0.0] == (0.0, False)
    assert read[1.0] == (1.0, False)


def test_at_most_one_prediction_for_a_state():
    networks = Picture(dataclasses.replace(SMALL, predicted=1.0), SMALL.sizes(32, 32, 2))
    before, after = torch.tensor([0, 1, 2, 3, 4, 4]), torch.tensor([1, 2, 1, 3, 5, 1])
    for seed in range(20):
        torch.manual_seed(seed)
        chosen = networks._steps_to_predict(before, after)
        assert sorted(after[chosen].tolist()) == [1, 2], "no step begins in 5, and 3 stays where it is"


def test_what_moved_away_shows_what_was_behind_it(monkeypatch):
    """A network that is a little wrong everywhere: what it uncovers is exactly as in the level's known frame."""
    floor = np.random.default_rng(0).integers(0, 255, (32, 32, 3), np.uint8)
    frames = np.stack([floor] * 4)
    for place, frame in enumerate(frames):
        frame[8 * place : 8 * place + 8, 8:16] = 255
    order = np.arange(4)
    level = LevelPlay(frames, order, np.stack([order, np.roll(order, -1)], 1), np.zeros((4, 1), np.int64))
    networks = Picture(SMALL, SMALL.sizes(32, 32, 1))
    networks.prepare([level])
    truth = networks._features(to_images(frames))

    def nearly_right(features, context):
        here = torch.cdist(features.flatten(1), truth.flatten(1)).argmin(1)
        change = truth[(here + 1) % 4] - features
        return (change + 0.05 * torch.sin(torch.arange(change.numel())).view_as(change)).unsqueeze(1)

    monkeypatch.setattr(networks.dynamics, "forward", nearly_right)
    networks.config = dataclasses.replace(SMALL, word_rollouts=(1, 3))
    networks.settle([level])
    assert networks.known > 0
    networks.exact_words.fill_(False)
    z = networks.encode(to_images(frames))[None]
    after = networks.step(z[:, 1:2], networks.context(to_images(frames[:1])))[0, 0, 0].view_as(truth[0])
    uncovered = (truth[1] != truth[2]).any(0) & (truth[2] == truth[0]).all(0)
    assert uncovered.sum() == 4 and (after == truth[0])[:, uncovered].all()
    covered = (truth[2] != truth[0]).any(0) & (truth[2] != truth[1]).any(0)
    assert not (after == truth[2])[:, covered].any(), "what is new is only as right as the network is"


def test_looks_turn_features_back_into_pixels():
    """Distances weighed by `looks` are those of pixels, as far as the features describe them."""
    level = dotted(4)
    networks = Picture(SMALL, SMALL.sizes(32, 32, 1))
    networks.prepare([level])
    images = to_images(level.frames[:2])
    features = networks.encode(images)
    apart = ((features[0] - features[1]) * networks.looks()).norm()
    assert 0 < apart <= (images[0] - images[1]).norm() * 1.001
