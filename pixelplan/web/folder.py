"""The page as a folder of plain files without our server: levels, planners and models run in the browser."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.by_name.open_model import ORACLE
from pixelplan.exchange.export_model import export_model
from pixelplan.puzzles import get_level
from pixelplan.puzzles.table_family import Tables
from pixelplan.types import InputError
from pixelplan.web.thinkers import FIRST_LEVEL, Models
from pixelplan.web.views import planner_views, puzzle_view

RUNTIME = "onnxruntime-web@1.30.0"
"""The npm package that runs ONNX in browsers."""
_RUNTIME_FILES = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
_LARGEST = 64 * 2**20
"""The most bytes that one of these files may have."""
_STORED_LEVELS = 24
"""Levels that are stored, for a puzzle whose rules are in another program."""
_HERE = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)


def write_folder(folder: Path, model: str | None = None, runtime: Path | None = None) -> None:
    """Write the page into a new folder, with the shipped models or one in a folder that train wrote.

    `runtime` is the package onnxruntime-web as a file; by default npm fetches it. An InputError if something is
    missing; then nothing is left behind.
    """
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; name a new folder")
    models = Models(model)
    models.check()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        page_folder = Path(temporary) / "page"
        (page_folder / "static" / "ort").mkdir(parents=True)
        _copy_page(page_folder)
        _unpack_runtime(page_folder / "static" / "ort", runtime, Path(temporary))
        puzzles = []
        for env in models.names:
            try:
                puzzles.append(_puzzle(models, env, page_folder / "models"))
            except InputError as problem:
                print(f"{env} is left out: {problem}")
        (page_folder / "puzzles.json").write_text(json.dumps(puzzles))
        (page_folder / "planners.json").write_text(json.dumps([view.model_dump() for view in planner_views()]))
        if folder.exists():
            folder.rmdir()
        page_folder.rename(folder)
    folder.chmod(0o755)


def _copy_page(page_folder: Path) -> None:
    for path in sorted((_HERE / "static").iterdir()):
        if path.suffix in (".js", ".css", ".svg") and not path.name.startswith("docs"):
            shutil.copy(path, page_folder / "static" / path.name)
    for path in sorted((_HERE / "standalone").glob("*.js")):
        shutil.copy(path, page_folder / "static" / path.name)  # api.js takes the place of the one that asks a server
    page = (_HERE / "static" / "index.html").read_text()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    for old, new in (
        ('<meta charset="utf-8">', f'<meta charset="utf-8">\n  {policy}'),
        ('"/static/', '"static/'),
        ('href="/"', 'href="./"'),
        ('      <a class="button" href="/docs">API</a>\n', ""),
        (' <a href="/docs">API and messages</a>', ""),
        ("All of this runs on your own machine.", "All of this runs in your browser; nothing is sent anywhere."),
    ):
        assert old in page, old
        page = page.replace(old, new)
    (page_folder / "index.html").write_text(page)


def _unpack_runtime(folder: Path, runtime: Path | None, temporary: Path) -> None:
    """Put the files that run ONNX into a folder."""
    if runtime is None:
        if shutil.which("npm") is None:
            raise InputError(
                f"npm, which fetches {RUNTIME}, is not installed; install it, or give the .tgz with --runtime"
            )
        command = ["npm", "pack", "--silent", "--pack-destination", str(temporary), RUNTIME]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        packages = sorted(temporary.glob("onnxruntime-web-*.tgz"))
        if done.returncode or not packages:
            raise InputError(f"npm could not fetch {RUNTIME}: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        runtime = packages[0]
    try:
        with tarfile.open(runtime, "r:gz") as archive:
            for name in _RUNTIME_FILES:
                member = archive.getmember(f"package/dist/{name}")
                if not member.isfile() or member.size > _LARGEST:
                    raise InputError(f"{runtime} is not the package {RUNTIME}: {name} is not a file of that package")
                data = archive.extractfile(member).read()  # type: ignore[union-attr]
                if name.endswith(".wasm"):  # a quarter of its size; the page unpacks it
                    name, data = f"{name}.packed", gzip.compress(data, 9, mtime=0)
                (folder / name).write_bytes(data)
    except (OSError, EOFError, tarfile.TarError, zlib.error, KeyError) as problem:
        raise InputError(f"{runtime} is not the package {RUNTIME} ({problem})") from None


def _puzzle(models: Models, env: str, folder: Path) -> dict[str, Any]:
    """What the page must know about a puzzle; writes the puzzle's models into a folder."""
    thinker = models.thinker(env)
    if not isinstance(thinker.family, Tables) or thinker.model is None:
        raise InputError("there is no trained model of it")
    puzzle = thinker.family.puzzle
    choices = [choice for choice in models.choices(env) if choice.name != ORACLE]
    for choice in choices:
        export_model(choice.name or models.source(env), folder / (choice.name or env))
    described: dict[str, Any] = {"view": puzzle_view(env, thinker, choices).model_dump(), "pixels": puzzle.pixels}
    if hasattr(puzzle, "tiles"):
        tiles = puzzle.tiles()
        return {**described, "cell": tiles.shape[1], "tiles": _text(tiles), "baked": None}
    levels = {number: _baked(puzzle, number) for number in range(FIRST_LEVEL, FIRST_LEVEL + _STORED_LEVELS)}
    (folder.parent / f"{env}.json").write_text(json.dumps(levels))
    cell = get_level(puzzle, FIRST_LEVEL).patches.shape[1]
    return {**described, "cell": cell, "tiles": "", "baked": f"{env}.json"}


def _baked(puzzle: Any, number: int) -> dict[str, Any]:
    """A level as tables."""
    level = get_level(puzzle, number)
    return {
        "start": level.start,
        "goal": level.goal,
        "successors": level.successors.tolist(),
        "positions": level.positions.tolist(),
        "corners": level.corners.tolist(),
        "background": _text(level.background),
        "patches": _text(level.patches),
    }


def _text(pixels: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(pixels).tobytes()).decode()
