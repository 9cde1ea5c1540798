"""Files that are written whole or not at all and reveal damage, and level ranges as people write them."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelplan.types import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

MOST_LEVELS = 1_000_000
"""The most levels that one command takes."""
LARGEST_JSON = 64 * 2**20
"""The most bytes of a JSON file that is read."""
SEAL = "seal"
"""The key under which a JSON file keeps the SHA-256 of all its other values."""


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file under a temporary name and rename it, so that no one ever sees half of it.

    Leftovers of a killed writer of the same file are removed, so `kill -9` leaves no trace in a resumed folder.
    """
    for left in path.parent.glob(f".{path.name}.*"):
        if left_by_writer(left):
            left.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with naming(path):
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Make the system's errors name the file: an error about a full disk does not do so by itself."""
    try:
        yield
    except OSError as problem:
        problem.filename = str(path)
        raise


def left_by_writer(path: Path) -> bool:
    """Whether a file is the leftover of a killed `write_bytes`."""
    return path.name.startswith(".") and path.suffix[1:].isdecimal() and not _runs(int(path.suffix[1:]))


def _runs(process: int) -> bool:
    """Whether a process with this number is running on this machine."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON, whole or not at all; a dict is sealed, so that `read_json` notices damage."""
    write_bytes(path, (json.dumps(sealed(value), indent=1, ensure_ascii=False) + "\n").encode())


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write values as JSON, one per line, whole or not at all."""
    write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def read_json(path: Path) -> Any:
    """The value in a JSON file, its seal checked and removed; an InputError if it is missing, damaged or not JSON.

    Files without a seal are read, too: people write them, and so did earlier versions.
    """
    try:
        if path.stat().st_size > LARGEST_JSON:
            raise InputError(f"{path} has more than {LARGEST_JSON // 2**20} MB; pixelplan writes no JSON that large")
        return unsealed(json.loads(path.read_text()), path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (ValueError, RecursionError) as problem:  # not UTF-8, not JSON, endless numbers or brackets
        raise InputError(f"{path} is not JSON: {problem}") from None


def check_format(value: Any, wanted: int, what: str, advice: str) -> None:
    """An InputError unless a JSON value has the wanted format; `what` says whose format it is."""
    version = value.get("format") if isinstance(value, dict) else None
    if version != wanted:
        raise InputError(f"{what} format {version}; this version reads format {wanted}: {advice}")


def sealed(value: Any) -> Any:
    """A dict with its seal; any other value as it is."""
    if not isinstance(value, dict):
        return value
    rest = {key: part for key, part in value.items() if key != SEAL}
    return {**rest, SEAL: _seal(rest)}


def unsealed(value: Any, path: Path) -> Any:
    """A value without its seal, if it has one; an InputError if that is not the seal of the rest."""
    if not isinstance(value, dict) or SEAL not in value:
        return value
    rest = {key: part for key, part in value.items() if key != SEAL}
    if _seal(rest) != value[SEAL]:
        raise InputError(f"{path} is not what was written: its seal does not match, so it was damaged or edited")
    return rest


def _seal(value: dict[str, Any]) -> str:
    read_back = json.loads(json.dumps(value))  # tuples and keys as a reader will see them
    return hashlib.sha256(json.dumps(read_back, sort_keys=True).encode()).hexdigest()


def notice(sentence: str) -> None:
    """Tell the user something on standard error."""
    print(f"pixelplan: {sentence}", file=sys.stderr, flush=True)


def checksum(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse_levels(text: str) -> list[range]:
    """Level ranges from "A:B" (B excluded) or single numbers, several with commas; an InputError for anything else."""
    ranges = []
    for part in text.split(","):
        ends = part.strip().split(":")
        if len(ends) > 2 or not all(end.isascii() and end.isdigit() for end in ends):
            raise InputError(f"{text!r} is not a level range; write A:B with 0 ≤ A < B, such as 0:1000 or 5,10:20")
        if max(map(len, ends)) > 10:
            raise InputError(f"the level range {part.strip()[:40]!r} is too far; levels are 0 to {2**31 - 1}")
        first, end = int(ends[0]), int(ends[-1]) + (len(ends) == 1)
        if not first < end <= 2**31:
            raise InputError(f"the level range {part.strip()!r} is empty or too far; levels are 0 to {2**31 - 1}")
        ranges.append(range(first, end))
    if any(first.stop > then.start for first, then in pairwise(sorted(ranges, key=lambda levels: levels.start))):
        raise InputError(f"a level occurs twice in {text!r}")
    return ranges


def level_numbers(ranges: Iterable[range]) -> list[int]:
    """The levels of ranges, in order; an InputError if there are too many for one command."""
    ranges = list(ranges)
    if (count := sum(map(len, ranges))) > MOST_LEVELS:
        raise InputError(f"{count:,} levels are too many for one command; it takes at most {MOST_LEVELS:,}")
    return [number for numbers in ranges for number in numbers]


def figure_bytes(figure: Figure, kind: str = "png", dpi: int = 150) -> bytes:
    """A figure as PNG or SVG; the same figure gives the same bytes."""
    import matplotlib

    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "pixelplan", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def png_bytes(picture: Image.Image) -> bytes:
    """A picture as PNG."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write_picture(path: Path, picture: Image.Image) -> None:
    """Write a picture as PNG, whole or not at all; an InputError if the name says it is something else."""
    if path.suffix.lower() != ".png":
        raise InputError(f"{path} is not a PNG file; let its name end in .png")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, png_bytes(picture))
