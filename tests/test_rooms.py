"""The tree keeps its promises: a file imports only from its own room and earlier ones, and names are not used twice."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pixelplan"
CORE = ("envs", "data", "model", "planning", "evaluation")
"""In the order of the data: a room may import those before it."""
ON_TOP: dict[str, tuple[str, ...]] = {
    "worlds": (),
    "puzzles": ("worlds",),
    "families": (),
    "distance": (),
    "by_name": ("puzzles", "worlds", "distance"),
    "reports": ("puzzles", "by_name"),
    "exchange": ("puzzles", "by_name"),
    "training": ("by_name",),
    "baselines": ("puzzles",),
    "experiments": ("puzzles", "worlds", "families", "by_name", "reports", "training", "baselines"),
    "web": ("puzzles", "worlds", "by_name", "reports", "exchange"),
}
"""What stands on the core, and which earlier ones of these each may import. The core never imports them."""
SHARED = ("types.py", "files.py", "machine.py", "additions.py")
"""What all rooms share."""
MOST_CODE = 5200
"""Lines of code of the core with what all rooms share, about 5,000: it can be read in an afternoon."""
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


@pytest.mark.parametrize("file", SHARED)
def test_what_all_rooms_share_imports_none(file: str) -> None:
    assert not imported_rooms((PACKAGE / file).read_text())


def test_a_wrong_import_is_seen() -> None:
    inside = "def f():\n    from pixelplan.web import launch\n    import pixelplan.planning.full\n"
    assert imported_rooms(inside) == {"web", "planning"}
    assert not allowed("evaluation") & {"baselines", "experiments", "web", "cli"}
    assert "planning" not in allowed("model")


def test_modules_that_texts_name_exist() -> None:
    """`room/module.py` and `room.module.Name`, in docstrings and on pages."""
    rooms, root = "|".join((*CORE, *ON_TOP, "cli")), PACKAGE.parent
    named = re.compile(rf"`(?:pixelplan[./])?({rooms})(?:/(\w+)\.py|\.(\w+)\.\w+)`")
    texts = [*PACKAGE.rglob("*.py"), *(root / "docs").rglob("*.md"), root / "README.md", root / "CONTRIBUTING.md"]
    for text in texts:
        for room, file, module in named.findall(text.read_text()):
            name = file or module
            assert name.startswith("my_") or (PACKAGE / room / f"{name}.py").exists(), f"{text} names {room}/{name}"


def test_rooms_on_top_import_only_earlier_ones() -> None:
    rooms = list(ON_TOP)
    assert all(rooms.index(earlier) < rooms.index(room) for room in rooms for earlier in ON_TOP[room])


def test_every_room_is_known() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == {*CORE, *ON_TOP, "cli"}


def test_no_module_name_occurs_in_two_rooms() -> None:
    """Except for the commands: a file in cli/ has the name of its command."""
    names = Counter(path.stem for path in FILES if path.stem not in ("__init__", "__main__") and path.parts[0] != "cli")
    assert [name for name, count in names.items() if count > 1] == []


def code_lines(path: Path) -> int:
    """Lines of a source without blank ones, comments and docstrings."""
    source, code = path.read_text(), set[int]()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type in (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP):
                code |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            code -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(code)


def test_code_lines_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        '"""A docstring\nof two lines."""\n\n# a comment\nx = [\n    1,  # one\n]\n\ndef f():\n    """Words."""\n'
    )
    assert code_lines(source) == 4


def test_the_core_can_be_read_in_an_afternoon() -> None:
    files = [PACKAGE / path for path in FILES if path.parts[0] in (*CORE, *SHARED)]
    assert sum(map(code_lines, files)) <= MOST_CODE


CORE_ALONE = """
import gymnasium, numpy as np
from pathlib import Path
from pixelplan.data.collect import collect
from pixelplan.envs.family import Challenge, Recording
from pixelplan.evaluation.run import evaluate
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.train import train
from pixelplan.model.train_config import TrainConfig
from pixelplan.planning import OneShotConfig
from pixelplan.types import Goal

class Corridor(gymnasium.Env):
    # four cells in a row; the actions are left and right
    action_space, place = gymnasium.spaces.Discrete(2), 0

    def frame(self, place):
        frame = np.zeros((32, 32, 3), np.uint8)
        frame[8:16, 8 * place : 8 * place + 8] = 255
        return frame

    def reset(self, **options):
        self.place = 0
        return self.frame(0), {}

    def step(self, action):
        self.place = min(3, max(0, self.place + 2 * int(action) - 1))
        return self.frame(self.place), 0.0, False, False, {}

class Corridors:
    name, options, action_names, shape = "corridor", {}, ("left", "right"), (32, 32, 3)
    random_start, has_goals, usually_random = False, True, True

    def fit(self, size): return self
    def check(self, number): pass
    def level(self, number): return Corridor()

    def play(self, number, episodes, steps, random, explores=False, trusts=False):
        env, actions = Corridor(), random.integers(2, size=(episodes, steps), dtype=np.uint8)
        rows = np.zeros((episodes, steps + 1), np.int64)
        for row, wanted in enumerate(actions):
            env.reset()
            for column, action in enumerate(wanted):
                env.step(action)
                rows[row, column + 1] = env.place
        return Recording(np.stack([env.frame(place) for place in range(4)]), rows, actions)

    def challenge(self, number, goal="level", seed=0):
        env = Corridor()
        return Challenge(number, env, lambda: env.place == 3, Goal.of(env.frame(3)), 3, self.action_names)

play = collect(Corridors(), "0:6", "play", episodes=4, steps=12)
settings = TrainConfig(model=PictureConfig(patches=4, width=8, wide=8), updates=2, threads=1, quiet=True)
model = train(play, "model", settings)
result = evaluate(Corridors(), "10:12", planner="one-shot", model=model, config=OneShotConfig(node_limit=8))
assert len(result.episodes) == 2 and all(episode.error is None for episode in result.episodes)
"""


def test_the_core_works_alone(tmp_path: Path) -> None:
    """Recording, training, planning and judging without any of the rooms that stand on the core."""
    package = tmp_path / "pixelplan"
    package.mkdir()
    (package / "__init__.py").write_text('__version__ = "0"\n')
    for part in (*CORE, *SHARED):
        (package / part).symlink_to(PACKAGE / part)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", CORE_ALONE], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_package_is_quick() -> None:
    """Without torch, which takes seconds: settings, help texts and levels do without it."""
    code = "import sys, pixelplan; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent).returncode == 0


def main() -> None:
    """Print files, lines and lines of code of each room, for CHANGELOG."""
    rooms: dict[str, list[Path]] = {}
    for path in FILES:
        room = path.parts[0] if len(path.parts) > 1 else "shared" if path.name in SHARED else "package"
        rooms.setdefault(room, []).append(PACKAGE / path)
    core = [path for room in ("shared", *CORE) for path in rooms[room]]
    for room, files in {**rooms, "the core": core, "all": [PACKAGE / path for path in FILES]}.items():
        lines = sum(len(path.read_text().splitlines()) for path in files)
        print(f"{room}: {len(files)}, {lines:,}, {sum(map(code_lines, files)):,}")


if __name__ == "__main__":
    main()
