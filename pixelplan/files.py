"""Files that are whole or not there, and level ranges as people write them."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelplan.types import InputError

if TYPE_CHECKING:
    from PIL import Image


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file beside its place and rename it into it, so that nobody ever sees half of it.

    What a killed writer of the same file left beside it is removed: `kill -9` leaves no trace in a folder resumed.
    """
    for left in path.parent.glob(f".{path.name}.*"):
        if left.suffix[1:].isdecimal() and not _runs(int(left.suffix[1:])):
            left.unlink(missing_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Whether a process of this number runs on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON, whole or not at all."""
    write_bytes(path, (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """The value in a JSON file; an InputError where it is missing or not JSON."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise InputError(f"{path} is not JSON: {problem}") from None


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
        first, end = int(ends[0]), int(ends[-1]) + (len(ends) == 1)
        if not first < end <= 2**31:
            raise InputError(f"the level range {part.strip()!r} is empty or too far; levels are 0 to {2**31 - 1}")
        ranges.append(range(first, end))
    seen: set[int] = set()
    for one in ranges:
        if not seen.isdisjoint(one):
            raise InputError(f"a level occurs twice in {text!r}")
        seen.update(one)
    return ranges


def level_numbers(ranges: Iterable[range]) -> list[int]:
    """The levels of ranges, in order."""
    return [number for one in ranges for number in one]


def write_picture(path: Path, picture: Image.Image) -> None:
    """Write a picture as PNG, whole or not at all; an InputError where the name says it is something else."""
    if path.suffix.lower() != ".png":
        raise InputError(f"{path} is no PNG name; write it with the ending .png")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, buffer.getvalue())
