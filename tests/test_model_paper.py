"""PPGS as in the paper: sizes counted by hand, losses by the text, and that it learns a tiny board."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from pixelplan.families.paper import Paper, PaperConfig, PaperForwardModel, ResNet
from pixelplan.families.presets import preset
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.metrics import step_errors
from pixelplan.model.networks import Networks
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.sizes import Sizes
from pixelplan.model.train import train
from tests.tiny_world import play

TINY = PaperConfig(dimensions=8, stem=8)


def full_size() -> Paper:
    """The paper's networks without the memory of their weights."""
    with torch.device("meta"):
        return Paper(PaperConfig(), PaperConfig().sizes(64, 64, 5))


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_the_papers_size() -> None:
    """Counted by hand: a convolution of k × k has k²·in·out weights, a normalisation two per channel."""

    def stage(before: int, after: int) -> int:
        first = 9 * before * after + 9 * after**2 + 4 * after
        shortcut = 0 if before == after else before * after + 2 * after
        return first + shortcut + 18 * after**2 + 4 * after

    stages = stage(64, 64) + stage(64, 128) + stage(128, 256) + stage(256, 512)
    backbone = 49 * 3 * 64 + 2 * 64 + stages
    assert backbone == 11_176_512, "ResNet-18 without its last layer"
    networks = full_size()
    last = 16 * 16 * 512 * 16 + 16
    assert parameters(networks.encoder) == backbone + last
    deconvolution = (16 + 1) * 64 * 64 + 16 * 64 * 32 + 32 + 16 * 32 * 16 + 16 + 16 * 16 * 3 + 3
    assert parameters(networks.forward_model) == deconvolution + 49 * (11 - 3) * 64 + backbone + last
    assert networks.inverse is not None
    assert parameters(networks.inverse) == (2 * 16 + 1) * 32 + 2 * 32 + (32 + 1) * 5


def test_there_are_no_strides_after_the_stem() -> None:
    network = full_size().encoder.network
    shapes = []
    for layer in network.layers:
        layer.register_forward_hook(lambda layer, given, output: shapes.append(tuple(output.shape[1:])))
    network(torch.zeros(2, 3, 64, 64, device="meta"))
    assert shapes[0] == (64, 32, 32) and shapes[3] == (64, 16, 16)
    assert shapes[4:12:2] == [(64, 16, 16), (128, 16, 16), (256, 16, 16), (512, 16, 16)]
    assert shapes[-2:] == [(131_072,), (16,)]
    odd = ResNet(36, 30, 3, 8, stem=4)
    assert odd(torch.zeros(1, 3, 36, 30)).shape == (1, 8)


def test_the_losses_are_those_of_the_text() -> None:
    data = play(levels=2)
    torch.manual_seed(0)
    networks = Paper(TINY, TINY.sizes(16, 16, 5)).eval()  # normalised by constants, so that frames can come one by one
    levels = level_plays(data)
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(2)], 3, 0.0, scattered=True)
    seen: list[int] = []
    last = networks.forward_model.network.layers[-1]
    last.register_forward_hook(lambda layer, given, output: seen.append(len(output)))
    losses = networks(batch, ObjectiveConfig(margin=0.1), 0.5)
    assert seen == [len(batch.steps)], "the forward model runs for steps that were seen, and for nothing else"
    forward, margin, inverse = [], [], []
    before, after = batch.images_of_steps()
    for (level, _, action, _), first, second in zip(batch.steps.tolist(), before, after, strict=True):
        z, z_next = networks.encode(batch.images[first][None])[0], networks.encode(batch.images[second][None])[0]
        context = batch.images[batch.contexts[level]][None]
        predicted = networks.step(z[None, None], networks.context(context))[0, 0, action]
        forward.append((predicted - z_next).pow(2).sum())
        margin.append(torch.clamp(1 - (z - z_next).pow(2).sum() / 0.1**2, min=0))
        inverse.append(-networks.inverse(z[None], z_next[None]).log_softmax(-1)[0, action])  # type: ignore[misc]
    for name, values in (("forward", forward), ("margin", margin), ("inverse", inverse)):
        torch.testing.assert_close(losses[name], torch.stack(values).mean(), atol=1e-5, rtol=1e-4)
    whole = 0.625 * losses["forward"] + losses["margin"] + losses["inverse"]
    torch.testing.assert_close(losses["total"], whole)


def test_parts_of_an_image_are_convolved_once() -> None:
    torch.manual_seed(0)
    network = ResNet(16, 16, 5, 8, stem=4).eval()
    states, level = torch.randn(3, 3, 16, 16), torch.randn(2, 2, 16, 16)
    state_of, level_of = torch.tensor([0, 1, 2, 0, 1, 2]), torch.tensor([0, 0, 0, 1, 1, 1])
    whole = network(torch.cat([states[state_of], level[level_of]], dim=1))
    torch.testing.assert_close(network.of_parts((states, state_of), (level, level_of)), whole, atol=1e-5, rtol=1e-4)


def test_planes_differ_at_first() -> None:
    """Else the forward model, which also sees frames and actions, learns to ignore the embedding."""
    for spread in (1.0, 3.0):
        torch.manual_seed(0)
        config = PaperConfig(stem=32, spread=spread)
        model = Paper(config, config.sizes(24, 24, 5)).forward_model
        assert isinstance(model, PaperForwardModel)
        z = nn.functional.normalize(torch.randn(200, 16), dim=-1)
        planes = model.deconvolve(model.expand(z).unflatten(-1, (-1, model.rows, model.columns)))
        assert 0.3 * spread < planes.std(0).mean().item() < spread


def test_the_fully_latent_forward_model_sees_no_context() -> None:
    data = play(levels=2)
    torch.manual_seed(0)
    config = dataclasses.replace(TINY, latent=True)
    networks = Paper(config, config.sizes(16, 16, 5)).eval()
    batch = make_batch(level_plays(data), [np.random.default_rng(index) for index in range(2)], 3, 0.0, scattered=True)
    other = batch._replace(contexts=batch.contexts.flip(0))
    losses, same = (networks(one, ObjectiveConfig(margin=0.1), 0.5) for one in (batch, other))
    assert losses["total"] == same["total"]
    first = batch.images[:1]
    z = networks.encode(first)
    after = networks.forward_model.after(z, torch.tensor([0]), first, torch.tensor([0]), torch.tensor([3]))
    torch.testing.assert_close(networks.step(z[None], networks.context(first))[0, :, 3], after)


def test_the_preset_is_the_papers() -> None:
    config = preset("paper")
    assert config.model == PaperConfig() and config.model.dimensions == 16 and config.model.stem == 64
    assert (config.learning_rate, config.objective.margin, config.threshold) == (1e-3, 0.1, "half-margin")
    assert config.model.updates == 40 * 400_000 // 128
    (group,) = Paper(TINY, Sizes(16, 16, 5, 1, 1, 1)).optimizer(1e-3, 0.0).param_groups
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.999), 1e-5, 0.0)
    (other,) = (
        Paper(dataclasses.replace(TINY, adam_epsilon=1e-3), Sizes(16, 16, 5, 1, 1, 1)).optimizer(1, 0).param_groups
    )
    assert other["eps"] == 1e-3
    assert issubclass(Paper, Networks) and Paper.scattered


@pytest.mark.slow
def test_it_learns_a_tiny_board(tmp_path: Path) -> None:
    """Minutes on one core: nearly every step of boards of 3 × 3 cells that it was trained on."""
    data = play(levels=3, size=3, episodes=12)
    config = dataclasses.replace(
        preset("paper"), model=dataclasses.replace(TINY, updates=800), batch=3, frames=9, quiet=True, threads=1
    )
    model = train(data, tmp_path / "model", config, data)
    assert step_errors(model, level_plays(data)).exact > 0.9
