"""Both themes can be read: contrasts after WCAG 2.2, computed from the stylesheet itself."""

from __future__ import annotations

import itertools
import re

import pytest

from pixelplan.web.server import STATIC


def themes() -> dict[str, dict[str, str]]:
    """The six-digit colours of each theme by their names."""
    text = (STATIC / "style.css").read_text()
    blocks = re.findall(r":root(\[data-theme=\"dark\"\])? \{(.*?)\n\}", text, re.DOTALL)
    colours = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", block)) for _, block in blocks]
    return {"light": colours[0], "dark": {**colours[0], **colours[1]}}


def luminance(colour: str) -> float:
    """How bright a colour is, 0 to 1."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """From 1, the same, to 21, black on white."""
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


TEXT = [
    *itertools.product(("ink", "soft", "primary", "good", "bad", "warm"), ("panel", "page")),
    *itertools.product(("ink", "soft", "ring"), ("raised",)),
    ("on-primary", "primary"),
]
SHAPES = [(name, "raised") for name in ("up", "right", "left", "down", "node", "path", "ring", "memory", "primary")]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_shapes_stand_out(theme: str) -> None:
    colours = themes()[theme]
    for pairs, least in ((TEXT, 4.5), (SHAPES, 3.0)):
        for front, back in pairs:
            assert contrast(colours[front], colours[back]) >= least, f"{front} on {back}, {theme}"
