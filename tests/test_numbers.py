"""Numbers that decide live in a config: every other number in data/ and model/ is listed here with what it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pixelplan"
KNOWN: dict[str, dict[float, str]] = {
    "data/collect.py": {
        20: "the usual episodes, an option of collect that the manifest names",
        32: "levels drawn before a part is written; the data is the same",
        10_000_000: "a limit of size",
    },
    "data/dataset.py": {4: "dimensions of an array", 20: "bytes read at a time, 2**20"},
    "data/manifest.py": {
        31: "the largest whole number, 2**31",
        63: "the same",
        60: "characters shown of a damaged value",
    },
    "model/batches.py": {0.5: "the middle of pixel values", 255: "the largest pixel value"},
    "model/calibrate.py": {
        1e-12: "mistakes that differ by rounding are equal",
        0.5: "a quantile reported; it decides nothing",
        0.9: "the same",
        0.99: "the same",
        0.999: "the same",
        4: "digits written",
    },
    "model/checkpoint.py": {4: "dimensions of a kernel"},
    "model/goal_test.py": {10: "a limit of size", 20: "the same", 31: "the same", 30: "exp stays finite"},
    "model/lattice.py": {
        1e-9: "no division by zero",
        0.5: "the middle of pixel values",
        255: "the largest pixel value",
        4: "a dimension",
        5: "the same",
        8: "bits of a byte",
    },
    "model/learn_goal_test.py": {7: "tells its random numbers from those of training"},
    "model/metrics.py": {50: "the usual walks; training says how many (JudgingConfig.walks)"},
    "model/optimizer.py": {0.5: "a square root", 4: "dimensions of a kernel"},
    "model/picture.py": {
        1e-9: "no division by zero",
        1e6: "farther than any look",
        0.5: "the middle of pixel values",
        4: "a dimension",
    },
    "model/picture_config.py": {4: "directions of a sweep"},
    "model/progress.py": {number: "layout" for number in (0.08, 0.14, 0.2, 0.97, 0.99, 1.02, 3.5, 9, 20, 120)},
    "model/repaint.py": {0.5: "a square root", 8: "channels that become 2 × 2 pixels of two maps"},
    "model/schedule.py": {0.5: "half of a cosine's height", 10: "the running mean's first updates count less"},
    "model/sizes.py": {4096: "a limit of size"},
    "model/train.py": {1_000_003: "tells the random numbers of one pass from those of the next"},
    "model/world_model.py": {
        0.5: "the middle of pixel values",
        255: "the largest pixel value",
        4: "dimensions of frames",
    },
}
"""Numbers above 3, and fractions, that are no fields of a config: layout, limits, formats and rounding."""
FILES = sorted(path for room in ("data", "model") for path in (PACKAGE / room).glob("*.py"))


def numbers(source: str) -> set[float]:
    """The numbers in a source, but for those in the fields of classes, versions, and whole numbers up to 3."""
    tree = ast.parse(source)
    set_apart = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                named = isinstance(member, ast.Assign) and "version" in ast.unparse(member.targets[0])
                if named or isinstance(member, ast.AnnAssign):
                    set_apart |= {id(part) for part in ast.walk(member)}
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in set_apart]
    return {node.value for node in constants if type(node.value) in (int, float) and node.value not in (0, 1, 2, 3)}


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name != "config_limits.py"],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_numbers_are_fields_or_known(path: Path) -> None:
    name = f"{path.parent.name}/{path.name}"
    unknown = numbers(path.read_text()) - set(KNOWN.get(name, {}))
    assert not unknown, f"{name} has {sorted(unknown)}: make them fields of a config, or say in KNOWN what they are"


def test_a_number_that_decides_is_seen() -> None:
    source = (
        "class C:\n    share: float = 0.7\n    version = 14\n\ndef f(x, walks=50):\n    return x[: walks // 5] * 0.3\n"
    )
    assert numbers(source) == {50, 5, 0.3}
