"""The command that writes a model for programs without torch."""

from __future__ import annotations

from pathlib import Path


def export(model: str, /, *, out: Path, onnx: bool = True) -> None:
    """Write a model's three functions as ONNX, and compare them with torch on 1,000 frames.

    Example: pixelplan export ice-slider --onnx --out runs/ice-onnx

    Args:
        model: A folder that train wrote, or the name of a shipped model.
        out: The folder to write: encode.onnx, context.onnx, step.onnx and model.json, which says how to use them.
        onnx: The format; there is only this one so far.
    """
    from pixelplan.exchange.export_model import export_model
    from pixelplan.types import InputError

    if not onnx:
        raise InputError("ONNX is the only format that models are exported to")
    comparison = export_model(model, out)
    largest = max(comparison.differences.values())
    print(f"{out}: encode, context and step; at most {largest:.1e} from torch on {comparison.frames:,} frames")
