"""Models as ONNX, by the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
pytest.importorskip("onnx", reason="the extra onnx is not installed")

import onnxruntime
import torch

import pixelplan
from pixelplan.exchange import export_onnx as exporting
from pixelplan.exchange.export_onnx import export_onnx
from pixelplan.model.batches import level_plays
from pixelplan.model.find_family import family_of
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command
from tests.tiny_world import play


def test_a_shipped_model_is_exported_with_the_same_numbers(tmp_path: Path, name: str) -> None:
    output = run_command("export", name, "--onnx", "--out", str(tmp_path / "onnx")).stdout
    assert "1,000 frames" in output
    about = json.loads((tmp_path / "onnx" / "model.json").read_text())
    assert about["env"] == name and about["checked"]["frames"] == 1000
    assert max(about["checked"]["largest_difference"].values()) <= 1e-4
    model = pixelplan.load(name)
    assert about["threshold"] == model.threshold
    sessions = {part: onnxruntime.InferenceSession(tmp_path / "onnx" / f"{part}.onnx") for part in exporting.FUNCTIONS}
    level = get_level(make_puzzle(name), 3000)
    frames = level.frames(np.arange(5))
    (z,) = sessions["encode"].run(["z"], {"frames": frames})
    np.testing.assert_allclose(z, model.encode(frames).numpy(), atol=1e-4)
    context = dict(
        zip(about["context"], sessions["context"].run(about["context"], {"frames": frames[:1]}), strict=True)
    )
    inputs = {part: z if part == "z" else context[part] for part in about["step_inputs"]}
    (after,) = sessions["step"].run(["after"], inputs)
    right = model.step(model.encode(frames), model.context(frames[0])).numpy()
    assert after.shape == right.shape == (5, about["actions"], about["dimensions"])
    np.testing.assert_allclose(after, right, atol=1e-4)


def test_a_model_that_differs_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "TOLERANCE", -1.0)
    level = get_level(make_puzzle("ice-slider"), 3000)
    with pytest.raises(InputError, match="differs from torch"):
        export_onnx(pixelplan.load("ice-slider"), tmp_path / "onnx", level.frames(np.arange(20)), {})
    assert not (tmp_path / "onnx").exists()


@pytest.mark.parametrize("words", [False, True])
def test_a_picture_model_is_exported(tmp_path: Path, words: bool) -> None:
    data, config = play(levels=2), PictureConfig(patches=8, width=8, wide=16)
    torch.manual_seed(0)
    model = WorldModel(*family_of(config).fit(config, None, data), threshold=0.5)
    model.networks.prepare(level_plays(data))
    model.networks.exact_words.fill_(words)
    torch.nn.init.normal_(model.networks.dynamics.change.weight)  # untrained, it changes nothing
    export_onnx(model, tmp_path / "onnx", data.frames, {})
    step = onnxruntime.InferenceSession(tmp_path / "onnx" / "step.onnx")
    z, context = model.encode(data.frames[:5]), model.context(data.frames[0])
    (after,) = step.run(["after"], {"z": z.numpy(), "context": context.numpy()})
    np.testing.assert_allclose(after, model.step(z, context).numpy(), atol=1e-4)


def test_what_has_no_onnx_form_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    model = pixelplan.load("ice-slider")
    monkeypatch.setattr(model.networks, "step", lambda z, context: torch.special.bessel_j0(z))
    with pytest.raises(InputError, match="step of this model of the family position has no ONNX form"):
        export_onnx(model, tmp_path / "onnx", level.frames(np.arange(20)), {})
    assert not (tmp_path / "onnx").exists()


def test_a_missing_model_is_one_sentence(tmp_path: Path) -> None:
    output = one_sentence(run_command("export", "nowhere", "--out", str(tmp_path / "onnx"), code=2))
    assert "there is no model 'nowhere'" in output
