"""Muon: matrices and kernels take orthogonalised steps, everything else takes AdamW's."""

import copy
import dataclasses
import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from pixelplan.families.vector import VectorConfig
from pixelplan.files import read_json
from pixelplan.model.optimizer import Muon, MuonConfig, orthogonalised
from pixelplan.model.train import train
from pixelplan.model.train_config import TrainConfig
from tests.tiny_world import play

VECTOR = VectorConfig(dimensions=8, planes=2, width=8, side=8)
QUICK = TrainConfig(quiet=True, threads=1, batch=2, frames=4, updates=2, model=VECTOR)


@settings(deadline=None)
@given(rows=st.integers(1, 12), columns=st.integers(1, 12), seed=st.integers(0, 1000), size=st.floats(1e-3, 1e3))
def test_singular_values_become_about_one(rows, columns, seed, size):
    matrix = size * torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)).double()
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    turned = left.T @ orthogonalised(matrix) @ right.T  # in the matrix's own singular vectors
    torch.testing.assert_close(turned, turned.diagonal().diag(), atol=1e-6, rtol=0)
    large = values > 0.05 * values[0]
    assert (turned.diagonal()[large] > 0.4).all()
    assert (turned.diagonal() < 1.3).all()


def test_vectors_move_as_with_adamw():
    torch.manual_seed(0)
    ours, theirs = nn.LayerNorm(5), nn.LayerNorm(5)
    theirs.load_state_dict(copy.deepcopy(ours.state_dict()))
    moved = Muon(ours.parameters(), 1e-2, 1e-2), torch.optim.AdamW(theirs.parameters(), 1e-2, weight_decay=1e-2)
    for _ in range(3):
        inputs = torch.randn(4, 5)
        for layer, optimizer in zip((ours, theirs), moved, strict=True):
            optimizer.zero_grad()
            layer(inputs).pow(3).sum().backward()
            optimizer.step()
    assert torch.equal(ours.weight, theirs.weight)


@pytest.mark.parametrize("config", [MuonConfig(), MuonConfig(matrix_rate=2.0, matrix_decay=0.5)])
@pytest.mark.parametrize("size", [1e-4, 1e4])
def test_a_kernels_step_does_not_depend_on_the_gradients_size(size, config):
    torch.manual_seed(0)
    layer = nn.Conv2d(3, 4, 2, bias=False)
    before = layer.weight.detach().clone()
    optimizer = Muon(layer.parameters(), 1e-3, 0.0, config)
    (size * layer(torch.randn(2, 3, 5, 5)).sin().sum()).backward()
    optimizer.step()
    rate = config.matrix_rate * 1e-3
    step = (before * (1 - rate * config.matrix_decay) - layer.weight.detach()).flatten(1) / rate
    assert torch.linalg.matrix_norm(step, 2) == pytest.approx(1, abs=0.3)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(MuonConfig)])
def test_training_takes_every_setting_and_records_it(name, tmp_path):
    value = {"rounds": 3, "coefficients": (2.0, -1.5, 0.5)}.get(name, 0.5)
    changed = dataclasses.replace(MuonConfig(), **{name: value})
    usual, other = (
        train(play(levels=1), tmp_path / folder, dataclasses.replace(QUICK, muon=muon)).networks
        for folder, muon in (("usual", MuonConfig()), ("other", changed))
    )
    assert any(not torch.equal(one, two) for one, two in zip(usual.parameters(), other.parameters(), strict=True))
    assert read_json(tmp_path / "other" / "config.json")["config"]["muon"] == json.loads(
        json.dumps(dataclasses.asdict(changed))
    )
    again = train(play(levels=1), tmp_path / "other", dataclasses.replace(QUICK, muon=changed), resume=True)
    assert all(torch.equal(one, two) for one, two in zip(again.networks.parameters(), other.parameters(), strict=True))


def test_learns_a_linear_map():
    torch.manual_seed(0)
    truth, layer = torch.randn(6, 6), nn.Linear(6, 6)
    optimizer = Muon(layer.parameters(), 5e-3, 0.0)
    inputs = torch.randn(64, 6)
    losses = []
    for _ in range(200):
        loss = (layer(inputs) - inputs @ truth.T).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]
