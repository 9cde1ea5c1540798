"""The command that imports recordings."""

from __future__ import annotations

from pathlib import Path


def import_recording(
    source: Path,
    /,
    *,
    out: Path,
    name: str = "imported",
    pixels: str | None = None,
    actions: int | None = None,
    action_names: tuple[str, ...] = (),
    one_level: bool = False,
    steps: int = 20,
    resume: bool = False,
) -> None:
    """Turn a recording into a trajectory folder: npz arrays, a folder of PNG files with a CSV, or Minari's HDF5.

    Example: pixelplan import recording.npz --out runs/own-data

    Args:
        source: An .npz file (at most 1024 MB unpacked) or .hdf5 file (in chunks of at most 256 MB), a folder of PNG
            files with one CSV file (at most 64 MB), or a Minari data set's folder. Pictures have sides of at most 4096
            pixels, and the distinct frames of a level take at most 512 MB.
        out: The folder to write; it must be new or empty.
        name: What the recorded world is called.
        pixels: Size of frames, 64 or 48x72 (height x width); by default their own if that is at most 128, else 64.
        actions: The number of actions; by default one more than the highest number recorded.
        action_names: The names of the actions, in the order of their numbers.
        one_level: If the recording names no levels, treat all episodes as one level; by default each has its own.
        steps: The most steps in an episode; longer ones are cut into pieces, which may overlap.
        resume: Continue an import that was interrupted.
    """
    from pixelplan.cli.options import parse_pixels, progress_bar
    from pixelplan.exchange.imports import import_trajectories

    with progress_bar("importing", "levels") as progress:
        data = import_trajectories(
            source,
            out,
            name=name,
            pixels=parse_pixels(pixels),
            actions=actions,
            action_names=action_names,
            one_level=one_level,
            steps=steps,
            resume=resume,
            progress=progress,
        )
    print(f"{data.actions.size:,} steps of {name} in {out}: {len(data.frames):,} distinct frames")
