"""The puzzles' documentation pages, made from their docstrings: `python docs/make_pages.py`."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

from pixelplan.files import write_picture
from pixelplan.puzzles import IDS, PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.base import PlayOptions
from pixelplan.reports.pictures import level_sheet

HERE = Path(__file__).parent / "puzzles"


def field_notes(kind: type) -> dict[str, str]:
    """The docstring under each field of a dataclass."""
    source = inspect.getsource(kind)
    return dict(re.findall(r'^    (\w+): [^\n]*\n    """([^"]*)"""', source, re.MULTILINE))


def table(kind: type) -> list[str]:
    """A Markdown table of a dataclass's fields."""
    notes = field_notes(kind)
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for field in dataclasses.fields(kind):
        rows.append(f"| `{field.name}` | `{field.default!r}` | {notes[field.name]} |")
    return rows


def page(name: str) -> str:
    """One puzzle's page."""
    kind = PUZZLES[name]
    lines = [
        f"# {kind.__name__}",
        "",
        f"`{IDS[name]}` for Gymnasium, `{name}` on the command line.",
        "",
        f"![Levels 0 to 9 with their shortest solutions]({name}.png)",
        "",
        inspect.getdoc(kind) or "",
        "",
        "## Options of the puzzle",
        "",
        *(table(kind) if dataclasses.fields(kind) else ["None."]),
        "",
        "## Options of play",
        "",
        *table(PlayOptions),
        "",
        "## Beyond Gymnasium",
        "",
        "`goal_frame()`, `clone_state()`, `restore_state(state)`; for judging, never for planning:",
        "`shortest_solution()` and `solvable_from_here()`. `gymnasium.make_vec` makes a truly vectorised environment;",
        "`autoreset_mode` is `NextStep` (default), `SameStep` or `Disabled`.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Write every page and its picture."""
    HERE.mkdir(exist_ok=True)
    for name in PUZZLES:
        (HERE / f"{name}.md").write_text(page(name))
        levels = [get_level(make_puzzle(name), number) for number in range(10)]
        write_picture(HERE / f"{name}.png", level_sheet(levels))


if __name__ == "__main__":
    main()
