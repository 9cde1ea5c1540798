"""The tree keeps its promises: a file imports only from its own room and earlier ones, and names are not used twice."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pixelplan"
CORE = ("envs", "data", "model", "planning", "evaluation")
"""In the order of the data: a room may import those before it."""
ON_TOP: dict[str, tuple[str, ...]] = {
    "puzzles": (),
    "worlds": (),
    "families": (),
    "distance": (),
    "by_name": ("puzzles", "worlds", "distance", "reports"),
    "reports": ("puzzles", "by_name"),
    "exchange": ("puzzles", "by_name"),
    "training": ("by_name",),
    "baselines": ("puzzles",),
    "experiments": ("puzzles", "worlds", "families", "by_name", "reports", "training", "baselines"),
    "web": ("puzzles", "worlds", "by_name", "reports", "exchange"),
}
"""What stands on the core, and what else each of them may import. The core never imports these."""
FILES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def allowed(room: str) -> set[str]:
    """The rooms that a file in a room may import."""
    if room in CORE:
        return set(CORE[: CORE.index(room) + 1])
    if room in ON_TOP:
        return {room, *CORE, *ON_TOP[room]}
    return {room, *CORE, *ON_TOP}  # the commands


def imported_rooms(source: str) -> set[str]:
    """The rooms of pixelplan that a source imports anywhere, even for type checking only."""
    modules = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = [module.split(".") for module in modules if module.startswith("pixelplan.")]
    return {part[1] for part in parts if (PACKAGE / part[1]).is_dir()}


@pytest.mark.parametrize("file", [path for path in FILES if len(path.parts) > 1], ids=str)
def test_imports_go_one_way(file: Path) -> None:
    wrong = imported_rooms((PACKAGE / file).read_text()) - allowed(file.parts[0])
    assert not wrong, f"pixelplan/{file} imports {', '.join(sorted(wrong))}, which come later than {file.parts[0]}"


@pytest.mark.parametrize("file", ["types.py", "files.py", "machine.py", "additions.py"])
def test_what_all_rooms_share_imports_none(file: str) -> None:
    assert not imported_rooms((PACKAGE / file).read_text())


def test_a_wrong_import_is_seen() -> None:
    inside = "def f():\n    from pixelplan.web import launch\n    import pixelplan.planning.full\n"
    assert imported_rooms(inside) == {"web", "planning"}
    assert not allowed("evaluation") & {"baselines", "experiments", "web", "cli"}
    assert "planning" not in allowed("model")


def test_every_room_is_known() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == {*CORE, *ON_TOP, "cli"}


def test_no_module_name_occurs_in_two_rooms() -> None:
    """Except for the commands: a file in cli/ has the name of its command."""
    names = Counter(path.stem for path in FILES if path.stem not in ("__init__", "__main__") and path.parts[0] != "cli")
    assert [name for name, count in names.items() if count > 1] == []
