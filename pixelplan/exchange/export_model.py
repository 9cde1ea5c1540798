"""Export a model as ONNX, and compare it with torch on frames of its world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelplan.by_name.open_model import find_model
from pixelplan.envs.noise_config import NOISE
from pixelplan.puzzles import PUZZLES, make_puzzle
from pixelplan.puzzles.table_family import Tables
from pixelplan.types import InputError

if TYPE_CHECKING:
    from pixelplan.exchange.export_onnx import Comparison

FRAMES_COMPARED = 1000
_LEVELS, _STEPS = range(1000, 1050), 80


def export_model(name: str | Path, folder: Path) -> Comparison:
    """Write the model in a folder, or a shipped one, as ONNX; an InputError if that is impossible."""
    from pixelplan.exchange.export_onnx import export_onnx
    from pixelplan.model.checkpoint import load_model, read_description

    model_folder = find_model(name)
    model = load_model(model_folder)
    data = read_description(model_folder).get("data") or {}
    shape = (model.sizes.height, model.sizes.width, 3)
    return export_onnx(model, folder, _frames(data, shape), {"env": data.get("env"), "options": data.get("options")})


def _frames(data: dict[str, Any], shape: tuple[int, int, int]) -> np.ndarray:
    """Frames [1000,H,W,3] of the puzzle that a model was trained on; random pixels if it was not a puzzle."""
    random = np.random.default_rng(0)
    if data.get("env") in PUZZLES:
        options = {key: value for key, value in (data.get("options") or {}).items() if key != NOISE}
        try:
            family = Tables(make_puzzle(data["env"], **options), data["env"])
            seen = [family.play(number, 1, _STEPS, random).frames for number in _LEVELS]
            return random.permutation(np.concatenate(seen))[np.arange(FRAMES_COMPARED) % sum(map(len, seen))]
        except InputError:
            pass  # a puzzle that is not installed here
    return random.integers(0, 256, (FRAMES_COMPARED, *shape), np.uint8)
