"""Shapes, norms and gradients of every family of networks, and what a planner may ask of a model."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from pixelplan.families.grid import ModelConfig, NoiseConfig, SpreadingConfig, sizes_of
from pixelplan.families.identity import states_of_frames
from pixelplan.families.noisy import settled
from pixelplan.families.paper import PaperConfig
from pixelplan.families.position import Displacements, TransportModel, differing_cells, expected, spread_codes
from pixelplan.families.presets import PRESETS, preset
from pixelplan.families.vector import VectorConfig
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.find_family import config_from
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError
from tests.tiny_world import play

SMALL = {
    "spatial": ModelConfig("position", dimensions=8, encoder_width=8, context_width=8),
    "three maps": ModelConfig("position", dimensions=8, maps=3, encoder_width=8, context_width=8),
    "latent": ModelConfig(family="latent", dimensions=8, encoder_width=8),
    "without inverse": ModelConfig("position", dimensions=8, encoder_width=8, context_width=8, inverse=False),
}


@pytest.mark.parametrize("name", SMALL)
def test_shapes_norms_and_gradients(name):
    data = play(levels=3)
    levels = level_plays(data, states_of_frames(data))
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(3)], 100, 0.2)
    torch.manual_seed(0)
    model = WorldModel(SMALL[name], sizes_of(data))
    z = model.networks.encode(batch.images)
    torch.testing.assert_close(z.norm(dim=-1), torch.ones(len(z)))
    predicted = model.networks.step(z[None], model.networks.context(batch.images[:1]))
    torch.testing.assert_close(predicted.norm(dim=-1), torch.ones(predicted.shape[:-1]))
    losses = model.networks.train()(batch, ObjectiveConfig(), 0.5)
    assert ("inverse" not in losses) == (name == "without inverse")
    losses["total"].backward()
    for parameter_name, parameter in model.networks.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, parameter_name


def test_what_a_planner_remembers_of_the_codes_follows_the_weights():
    data = play(levels=1)
    model = WorldModel(SMALL["spatial"], sizes_of(data), threshold=0.5)
    for name in ("readout.weight", "log_scale"):
        before = model.context(data.frames[0]).places.clone()
        with torch.no_grad():
            model.networks.forward_model.get_parameter(name).mul_(1.1).add_(0.1)
        assert not torch.equal(model.context(data.frames[0]).places, before)
    other = WorldModel(SMALL["spatial"], sizes_of(data))
    model.networks.load_state_dict(other.networks.state_dict())
    expected_now, remembered = (one.context(data.frames[0]) for one in (other, model))
    torch.testing.assert_close(remembered.places, expected_now.places)
    torch.testing.assert_close(remembered.ends, expected_now.ends)


@pytest.mark.parametrize("name", SMALL)
def test_what_a_planner_asks(name):
    data = play(levels=1)
    model = WorldModel(SMALL[name], sizes_of(data), threshold=0.5)
    z = model.encode(data.frames[:3])
    context = model.context(data.frames[0])
    after = model.step(z, context)
    assert z.shape == (3, 8) and after.shape == (3, 5, 8) and after.dtype == torch.float32
    torch.testing.assert_close(model.step(z[1:2], context)[0], after[1], atol=1e-5, rtol=1e-4)
    assert model.step(z[:0], context).shape == (0, 5, 8)


def moving_model(jumps: bool) -> WorldModel:
    """A model whose context network is overruled: action 0 jumps one cell to the right or glides up, action 1 stays."""
    model = WorldModel(SMALL["spatial"], Sizes(16, 16, actions=2, rows=4, columns=4, reach=2))
    jump, glide = torch.full((2, 5, 5), -50.0), torch.full((2, 3, 3), -50.0)
    jump[0, 2, 3] = jump[1, 2, 2] = glide[0, 0, 1] = glide[1, 1, 1] = 50.0
    part = model.networks.forward_model
    assert isinstance(part, TransportModel)
    with torch.no_grad():
        for layers, bias in ((part.jump_head, jump), (part.glide_head, glide)):
            layers[-1].weight.zero_()
            layers[-1].bias.copy_(bias.flatten())
        part.choice_head[-1].weight.zero_()
        part.choice_head[-1].bias.fill_(50.0 if jumps else -50.0)
    return model


@pytest.mark.parametrize(("jumps", "source", "target"), [(True, 5, 6), (False, 14, 6)])
def test_a_step_moves_the_attention(jumps, source, target):
    """With sharp attention and known moves, the prediction is the embedding of the cell that the move leads to.

    A glide follows its local rule twice here (the reach). Both actions are looked at: the second one stays.
    """
    model = moving_model(jumps)
    with torch.no_grad():
        cells = model.networks.encoder.readout.embed(torch.eye(16).unsqueeze(1))  # [16,d], of attention to each cell
        moved = model.step(cells[source : source + 1], model.context(np.zeros((16, 16, 3), np.uint8)))[0]
    torch.testing.assert_close(moved, cells[[target, source]], atol=1e-3, rtol=0)


@pytest.mark.parametrize(("rows", "columns", "reach"), [(3, 4, 1), (3, 4, 3), (5, 2, 2)])
def test_displacements_are_those_that_stay_on_the_grid(rows, columns, reach):
    """Against plain loops: chances are a softmax over the moves that stay, and both ways to follow them agree."""
    side, cells = 2 * reach + 1, rows * columns
    torch.manual_seed(0)
    logits, values = torch.randn(1, 2 * side**2, rows, columns), torch.randn(cells, 3)
    plain = torch.zeros(2, cells, cells)
    for action in range(2):
        for cell in range(cells):
            row, column = divmod(cell, columns)
            for move in range(side**2):
                to_row, to_column = row + move // side - reach, column + move % side - reach
                if 0 <= to_row < rows and 0 <= to_column < columns:
                    weight = logits[0, action * side**2 + move, row, column].exp()
                    plain[action, cell, to_row * columns + to_column] = weight
    plain /= plain.sum(-1, keepdim=True)
    moves = Displacements(rows, columns, reach)
    chances = moves.chances(logits, actions=2)
    torch.testing.assert_close(moves.matrix(chances), plain)
    torch.testing.assert_close(expected(chances, moves.targets_of(values)), plain @ values)


@pytest.mark.parametrize(("size", "cell"), [(8, 8), (16, 8), (5, 12), (16, 4)])
def test_sizes_follow_the_cells_of_the_picture(size, cell):
    sizes = sizes_of(play(levels=2, size=size, cell=cell))
    assert sizes == Sizes(size * cell, size * cell, 5, size, size, 1) and sizes.patch == cell


def test_actions_are_counted_if_no_manifest_says():
    data = dataclasses.replace(play(), manifest={})
    assert sizes_of(data).actions == 5


@pytest.mark.parametrize(
    "frames", [np.zeros((1, 8, 8, 3), np.uint8), np.zeros((1, 16, 16, 3), np.float32), np.zeros((16, 16, 3), np.uint8)]
)
def test_frames_of_another_size_or_type_are_refused(frames):
    model = WorldModel(SMALL["spatial"], Sizes(16, 16, 5, 4, 4, 1))
    with pytest.raises(InputError, match=r"takes uint8 of shape \(N, 16, 16, 3\)"):
        model.encode(frames)


def test_presets_are_found_by_name():
    assert set(PRESETS) == {"auto", "picture", "vector", "ppgs", "rules", "spatial", "noisy", "paper", "latent", "tiny"}
    assert preset("spatial").model.inverse and not preset("spatial", inverse=False).model.inverse
    with pytest.raises(InputError, match="the presets are"):
        preset("huge")


def test_with_noisy_frames_the_encoder_is_held_to_predictions_only_when_it_has_settled():
    data = play(levels=3)
    levels = level_plays(data, np.arange(len(data.frames)))
    batch = make_batch(levels, [np.random.default_rng(index) for index in range(3)], 100, 0.2)
    torch.manual_seed(0)
    model = WorldModel(dataclasses.replace(SMALL["without inverse"], noisy=True), sizes_of(data))
    pulled = {}
    for share in (0.0, 1.0):
        model.networks.zero_grad()
        model.networks(batch, ObjectiveConfig(), share)["total"].backward()
        pulled[share] = any(part.grad.any() for part in model.networks.encoder.head.parameters())
    assert pulled == {0.0: False, 1.0: True}


def test_how_codes_are_compared_and_spread_are_settings():
    usual, blunt = (dataclasses.replace(SMALL["spatial"], **change) for change in ({}, {"log_scale": 1.0}))
    data, scales = play(levels=2), []
    for config in (usual, blunt):
        scales.append(WorldModel(config, sizes_of(data)).networks.forward_model.log_scale.item())
    assert scales == [4.5, 1.0]
    codes = [spread_codes(1, 40, 8, SpreadingConfig(**change)) for change in ({}, {"rounds": 0}, {"push": 0.01})]
    nearest = [(torch.cdist(embedded[0], embedded[0]) + 9 * torch.eye(40)).min() for embedded in codes]
    assert nearest[0] > max(nearest[1:])
    assert not torch.equal(codes[0], spread_codes(1, 40, 8, SpreadingConfig(sharpness=1.0)))
    assert config_from(json.loads(json.dumps(dataclasses.asdict(blunt)))) == blunt


def test_how_noisy_frames_are_learned_is_a_setting():
    early, late = NoiseConfig(settling=0.1, settled=0.2), NoiseConfig(settling=0.7, settled=0.8)
    assert (settled(0.3, early), settled(0.3, NoiseConfig()), settled(0.3, late)) == (1.0, pytest.approx(0.25), 0.0)
    longer = dataclasses.replace(SMALL["spatial"], noisy=True, noisy_frames=NoiseConfig(times_as_long=5))
    usual = dataclasses.replace(longer, noisy_frames=NoiseConfig())
    updates = [WorldModel(config, sizes_of(play(levels=1))).networks.usual_updates() for config in (usual, longer)]
    assert updates[1] == 2.5 * updates[0]
    assert config_from(json.loads(json.dumps(dataclasses.asdict(longer)))) == longer, "a record names it"


def test_with_noisy_frames_a_cell_differs_by_more_than_the_others():
    data = play(levels=1)
    levels = level_plays(data, states_of_frames(data))
    batch = make_batch(levels, [np.random.default_rng(0)], 100, 0.0)
    sizes = sizes_of(data)
    clean = differing_cells(batch, sizes)
    noise = torch.from_numpy(np.random.default_rng(1).normal(0, 0.03, batch.images.shape)).float()
    noisy = batch._replace(images=batch.images + noise)
    assert differing_cells(noisy, sizes).all(), "taken at their word, noisy pixels differ everywhere"
    assert torch.equal(differing_cells(noisy, sizes, NoiseConfig().notable), clean)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (SMALL["spatial"], "inverse_width"),
        (SMALL["latent"], "latent_width"),
        (VectorConfig(inverse=True), "inverse_width"),
        (VectorConfig(), "encoder_width"),
        (VectorConfig(), "spread_width"),
        (PaperConfig(stem=8), "inverse_width"),
    ],
)
def test_the_widths_of_networks_are_settings(config, name):
    """Half as wide networks have fewer parameters, and a record without the setting stands for the usual width."""
    usual = WorldModel(config, sizes_of(play(levels=1))).parameter_count
    narrow = dataclasses.replace(config, **{name: getattr(config, name) // 2})
    assert WorldModel(narrow, sizes_of(play(levels=1))).parameter_count < usual
    written = json.loads(json.dumps(dataclasses.asdict(narrow)))
    assert config_from(written) == narrow
    assert config_from({key: value for key, value in written.items() if key != name}) == config
