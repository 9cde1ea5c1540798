"""The command that looks into folders."""

from __future__ import annotations

from pathlib import Path


def inspect(folder: Path, /, *, out: Path | None = None, data: Path | None = None, level: int | None = None) -> None:
    """Say what is in a trajectory folder or a model folder, with a picture; for an ONNX model, in words only.

    Example: pixelplan inspect runs/ice-model

    Args:
        folder: A folder written by collect, train or export. A model has at most 128 million parameters, and a latent
            grid of at most 128 x 128 cells.
        out: The PNG to write; by default inspect.png in the folder.
        data: For a model: the folder written by collect to measure it on; by default random play of its own puzzle in
            levels 1000 to 1049 is recorded for this.
        level: For a model: the level whose latent space is drawn; by default the first of the data.
    """
    from pixelplan.exchange.export_onnx import DESCRIPTION_FILE as EXPORTED
    from pixelplan.files import write_bytes, write_picture
    from pixelplan.model.checkpoint import CONFIG

    out = out or folder / "inspect.png"
    if (folder / CONFIG).exists():
        report, picture = _inspect_model(folder, data, level)
        print(report)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, picture)
    elif (folder / EXPORTED).exists():
        from pixelplan.exchange.export_onnx import exported_report

        print(exported_report(folder))
    else:
        from pixelplan.reports.inspect_data import inspect_trajectories

        text, sheet = inspect_trajectories(folder)
        print(text)
        write_picture(out, sheet)


def _inspect_model(folder: Path, data: Path | None, level: int | None) -> tuple[str, bytes]:
    """A report on a model and its picture as PNG."""
    import tempfile

    from pixelplan import collect
    from pixelplan.by_name.resolve import recorded_family
    from pixelplan.data.dataset import open_trajectories
    from pixelplan.files import figure_bytes
    from pixelplan.model.checkpoint import read_description
    from pixelplan.reports.inspect_model import inspect_model
    from pixelplan.types import InputError

    with tempfile.TemporaryDirectory() as place:
        if data is None:
            made_for = read_description(folder).get("data", {})
            name = str(made_for.get("env", "data without a name"))
            family = recorded_family(name, made_for.get("options", {}))
            if family is None:
                raise InputError(
                    f"{folder} was trained on {name}, which is not a puzzle; name a folder of its play with --data"
                )
            play = collect(family, "1000:1050", Path(place) / "data")
        else:
            play = open_trajectories(data)
        inspection = inspect_model(folder, play, level)
    assert inspection.picture is not None  # there was data
    return inspection.report, figure_bytes(inspection.picture)
