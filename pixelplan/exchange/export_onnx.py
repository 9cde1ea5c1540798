"""A world model as ONNX: its three functions encode, context and step, for programs without torch.

Only what every family's networks have is used: `encode` and `context` of images, and `step` with a context that is a
tensor or a named tuple of tensors.
"""

from __future__ import annotations

import io
import logging
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pixelplan.data.spread import evenly_spread
from pixelplan.files import checksum, read_json, write_bytes, write_json
from pixelplan.model.networks import Networks
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError

FUNCTIONS = ("encode", "context", "step")
DESCRIPTION_FILE = "model.json"
TOLERANCE = 1e-4
"""By how much a number may differ between ONNX and torch."""
_CONTEXTS = 20
"""Frames from which contexts are read to compare them, among those given."""
_OPSET = 18


@dataclass(frozen=True)
class Comparison:
    """How far the exported functions are from torch's."""

    frames: int
    differences: dict[str, float]
    """The largest absolute difference of each function."""


class _Function(nn.Module):
    """One of a family's functions, of tensors only."""

    def __init__(self, networks: Networks, name: str, kind: Any) -> None:
        """`kind` is the type of a context that is a tuple; None if it is a tensor."""
        super().__init__()
        self.networks, self.name, self.kind = networks, name, kind

    def forward(self, *tensors: Tensor) -> Any:
        """encode and context take frames [N,H,W,3] uint8; step takes z [N,d] and the parts of a context."""
        if self.name == "step":
            z, *parts = tensors
            context = parts[0] if self.kind is None else self.kind(*parts)
            return self.networks.step(z.unsqueeze(0), context).squeeze(0)
        (frames,) = tensors
        images = frames.permute(0, 3, 1, 2).float() / 255 - 0.5  # as `to_images` makes them of arrays
        return self.networks.encode(images) if self.name == "encode" else self.networks.context(images)


def export_onnx(model: WorldModel, folder: Path, frames: np.ndarray, description: dict[str, Any]) -> Comparison:
    """Write encode.onnx, context.onnx, step.onnx and model.json, and compare them with torch on frames [N,H,W,3].

    An InputError if they differ by more than the tolerance, a family has an operation that ONNX lacks, or an extra
    is not installed; nothing is written then.
    """
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError as problem:
        raise InputError(f"ONNX needs {problem.name}: pip install 'pixelplan[onnx]'") from None
    z, context = model.encode(frames[:2]).clone(), model.context(frames[0])
    kind = type(context) if isinstance(context, tuple) else None
    parts = [part.clone() for part in (context if kind else [context])]
    names = list(getattr(context, "_fields", None) or ["context"])
    pixels = torch.from_numpy(frames[:2].copy())
    written: dict[str, bytes] = {}
    sessions: dict[str, Any] = {}
    family = model.config.family
    for name, inputs, labels, outputs in (
        ("encode", (pixels,), ["frames"], ["z"]),
        ("context", (pixels[:1],), ["frames"], names),
        ("step", (z, *parts), ["z", *names], ["after"]),
    ):
        try:
            written[name] = _trace(model, name, kind, inputs, labels, outputs)
            sessions[name] = onnxruntime.InferenceSession(written[name], _quiet(onnxruntime))
        except Exception as problem:  # the tracer and the runtime raise kinds of their own
            reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
            raise InputError(f"{name} of this model of the family {family} has no ONNX form: {reason}") from None
    comparison = Comparison(len(frames), _compare(model, sessions, frames, names))
    far = {name: value for name, value in comparison.differences.items() if not value <= TOLERANCE}
    if far:
        raise InputError(f"the exported {family} model differs from torch by {far}; at most {TOLERANCE} is right")
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in written.items():
        write_bytes(folder / f"{name}.onnx", data)
    inputs_of_step = [entry.name for entry in sessions["step"].get_inputs()]
    about = {
        "threshold": model.threshold, "noisy": model.noisy, "height": model.sizes.height, "width": model.sizes.width,
        "actions": model.sizes.actions, "dimensions": z.shape[1], "context": names, "step_inputs": inputs_of_step,
        "checked": {"frames": comparison.frames, "largest_difference": comparison.differences},
    }  # fmt: skip
    digests = {name: checksum(folder / f"{name}.onnx") for name in FUNCTIONS}
    write_json(folder / DESCRIPTION_FILE, {**about, "sha256": digests, **description})
    return comparison


def exported_report(folder: Path) -> str:
    """What an exported model is, in words; an InputError if a file is not the one that was written."""
    about = read_json(folder / DESCRIPTION_FILE)
    digests = about.get("sha256") if isinstance(about, dict) else None
    if not isinstance(digests, dict):
        raise InputError(f"{folder / DESCRIPTION_FILE} has no checksums of the other files; export the model again")
    for name in FUNCTIONS:
        path = folder / f"{name}.onnx"
        if not path.is_file():
            raise InputError(f"{path} is missing; export the model again or copy the whole folder")
        if checksum(path) != digests.get(name):
            raise InputError(f"{path} is damaged: its checksum is not the one in {DESCRIPTION_FILE}")
    megabytes = sum((folder / f"{name}.onnx").stat().st_size for name in FUNCTIONS) / 1e6
    return (
        f"{folder}: a model of {about.get('env')} as ONNX; {about.get('height')} × {about.get('width')} pixels, "
        f"{about.get('actions')} actions, {about.get('dimensions')} numbers per state, {megabytes:.1f} MB"
    )


def _quiet(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    return options


def _trace(
    model: WorldModel, name: str, kind: Any, inputs: tuple[Tensor, ...], labels: list[str], outputs: list[str]
) -> bytes:
    """One function as ONNX; the first axis of frames and of embeddings may have any length."""
    function = _Function(model.networks, name, kind)
    axes: dict[str, dict[int, str]] = {} if name == "context" else {labels[0]: {0: "n"}, outputs[0]: {0: "n"}}
    buffer: Any = io.BytesIO()
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns about every shape that it takes for a constant
        torch.onnx.export(
            function, inputs, buffer, input_names=labels, output_names=outputs, dynamic_axes=axes, opset_version=_OPSET,
            dynamo=False,
        )  # fmt: skip
    return buffer.getvalue()


def _compare(model: WorldModel, sessions: dict[str, Any], frames: np.ndarray, names: list[str]) -> dict[str, float]:
    """The largest absolute difference of each function from torch's."""
    differences = dict.fromkeys(FUNCTIONS, 0.0)

    def note(name: str, exported: np.ndarray, right: Tensor) -> None:
        differences[name] = max(differences[name], float(np.abs(exported - right.numpy()).max(initial=0.0)))

    chosen = evenly_spread(len(frames), _CONTEXTS)
    share = -(-len(frames) // len(chosen))
    for index, at in enumerate(chosen):
        batch = frames[index * share : (index + 1) * share]
        if len(batch):
            z = model.encode(batch)
            note("encode", sessions["encode"].run(["z"], {"frames": batch})[0], z)
        context = model.context(frames[at])
        parts = list(context) if isinstance(context, tuple) else [context]
        frame = frames[at][None]
        looked = {entry.name: frame for entry in sessions["context"].get_inputs()}  # none, if it sees no context
        exported = sessions["context"].run(names, looked)
        for part, right in zip(exported, parts, strict=True):
            note("context", part, right)
        fed = {"z": z.numpy(), **{name: part.numpy() for name, part in zip(names, parts, strict=True)}}
        wanted = {entry.name for entry in sessions["step"].get_inputs()}  # the tracer leaves out what is not needed
        after = sessions["step"].run(["after"], {name: value for name, value in fed.items() if name in wanted})[0]
        note("step", after, model.step(z, context))
    return differences
