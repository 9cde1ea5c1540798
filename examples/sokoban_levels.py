"""Sokoban from level files: any levels in the usual text format, such as Boxoban's.

`#` wall, `@` player, `+` player on a target, `$` box, `*` box on a target, `.` target, a space is floor; anything after
`;` is a comment, and an empty line or a comment stands between levels. Level k is the k-th of the file. Smaller levels
are surrounded by walls, so that all frames have one size.

A level is solved when every box is on a target, wherever the player stands: any frame that shows this is the goal.
With steps=14 a level starts with a board, drawn from all, that needs exactly 14 steps to be solved.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from examples.boards import BoardWorld, distinct
from pixelplan import InputError

FLOOR, WALL, TARGET, BOX, BOX_ON_TARGET, PLAYER, PLAYER_ON_TARGET = range(7)
SIGNS = {" ": FLOOR, "-": FLOOR, "_": FLOOR, "#": WALL, ".": TARGET, "$": BOX, "*": BOX_ON_TARGET, "@": PLAYER}
SIGNS["+"] = PLAYER_ON_TARGET
MOVES = np.array([(-1, 0), (0, 1), (0, -1), (1, 0)])
CELL = 8
LARGEST, MOST_BYTES = 32, 20_000_000
FAR = 24
"""The most steps from the goal for which exact levels can be made."""
OWN_LEVELS = Path(__file__).with_name("sokoban_levels.txt")


def read_levels(files: str | Path) -> list[np.ndarray]:
    """The levels [R,C] of a file, or of several with commas; an InputError says which level of which file is wrong."""
    levels = []
    for name in str(files).split(","):
        blocks = [(line, board) for line, board in _blocks(Path(name.strip()))]
        if not blocks:
            raise InputError(f"{name} has no levels; a level is lines of #, @, +, $, *, . and spaces")
        levels += [_checked(board, f"the level at line {line} of {name}") for line, board in blocks]
    return levels


def _blocks(path: Path) -> list[tuple[int, list[str]]]:
    """The lines of each level in a file, and the number of its first line."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} has {path.stat().st_size:,} bytes; a level file has at most {MOST_BYTES:,}")
        text = path.read_text(encoding="ascii")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; name a file of Sokoban levels") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path} is not a text file of Sokoban levels: {problem}") from None
    blocks: list[tuple[int, list[str]]] = []
    lines: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        line = line.partition(";")[0].rstrip()
        wrong = set(line) - set(SIGNS)
        if wrong:
            raise InputError(f"line {number} of {path} has {min(wrong)!r}; levels are made of {' '.join(SIGNS)!r}")
        if line:
            lines.append(line)
        elif lines:
            blocks.append((number - len(lines), lines))
            lines = []
    return blocks


def _checked(lines: list[str], name: str) -> np.ndarray:
    """The board [R,C] of a level's lines."""
    width = max(map(len, lines))
    if max(width, len(lines)) > LARGEST:
        raise InputError(f"{name} is {len(lines)} × {width} cells; the largest that can be drawn is {LARGEST}")
    board = np.array([[SIGNS[sign] for sign in line.ljust(width)] for line in lines], np.uint8)
    players = int(np.isin(board, (PLAYER, PLAYER_ON_TARGET)).sum())
    boxes = int(np.isin(board, (BOX, BOX_ON_TARGET)).sum())
    targets = int(np.isin(board, (TARGET, BOX_ON_TARGET, PLAYER_ON_TARGET)).sum())
    if players != 1:
        raise InputError(f"{name} has {players or 'no'} players; it must have one, written @ or +")
    if boxes != targets or not boxes:
        raise InputError(f"{name} has {boxes} boxes and {targets} targets; it must have as many of both, at least one")
    return board


def _sprites() -> np.ndarray:
    """What each kind looks like, [7,h,w,3]: a target shows around what stands on it."""
    floor, wall, target, box, player = (238, 232, 220), (70, 74, 86), (226, 106, 92), (176, 122, 58), (46, 104, 190)
    sprites = np.empty((7, CELL, CELL, 3), np.uint8)
    for kind, ground in enumerate((floor, wall, target, floor, target, floor, target)):
        sprites[kind] = ground
    sprites[[BOX, BOX_ON_TARGET], 1:-1, 1:-1] = box
    sprites[[PLAYER, PLAYER_ON_TARGET], 2:-2, 2:-2] = player
    return sprites


class SokobanLevels(BoardWorld):
    action_names = ("up", "right", "left", "down")
    sprites = _sprites()

    def __init__(
        self, levels: str = str(OWN_LEVELS), steps: int | None = None, render_mode: str | None = "rgb_array"
    ) -> None:
        if steps is not None and not 1 <= steps <= FAR:
            raise InputError(f"steps is {steps}; levels can be made from 1 to {FAR} steps from being solved")
        boards = read_levels(levels)
        self.steps = steps
        self.cells = max(len(board) for board in boards), max(board.shape[1] for board in boards)
        self.boards = np.full((len(boards), *self.cells), WALL, np.uint8)
        for place, board in zip(self.boards, boards, strict=True):
            top, left = (self.cells[0] - board.shape[0]) // 2, (self.cells[1] - board.shape[1]) // 2
            place[top : top + board.shape[0], left : left + board.shape[1]] = board
        self.level_count = len(boards)
        super().__init__(render_mode)

    def begin(self, seed: int | None) -> np.ndarray:
        number = int(self.np_random.integers(self.level_count)) if seed is None else seed % self.level_count
        start = self.boards[number]
        self._goals = goal_boards(start)
        if self.steps is None:
            return start
        far = so_far(self._goals, self.steps)
        if not len(far):
            raise InputError(f"level {number} has no board that is {self.steps} steps from being solved")
        return far[self.np_random.integers(len(far))]

    def goals(self) -> np.ndarray:
        return self._goals

    def solved(self, boards: np.ndarray) -> np.ndarray:
        return ~(boards == BOX).any((1, 2))

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return push(boards, MOVES[actions])

    def shortest_solution(self) -> tuple[int, ...] | None:
        """From a level's start if `steps` is set; otherwise unknown. For the judge only."""
        if self.steps is None:
            return None
        board, taken = self.board, []
        for left in range(self.steps - 1, -1, -1):
            nearer = {board.tobytes() for board in so_far(self._goals, left)}
            there = self.after(board[None])[0]
            taken.append(next(action for action, after in enumerate(there) if after.tobytes() in nearer))
            board = there[taken[-1]]
        return tuple(taken)


def push(boards: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """The boards [N,R,C] after the player of each of boards [N,R,C] has moved by [N,2], if nothing is in the way."""
    count, _, columns = boards.shape
    padded = np.pad(boards, ((0, 0), (2, 2), (2, 2)), constant_values=WALL)
    every, flat = np.arange(count), (boards >= PLAYER).reshape(count, -1).argmax(1)
    here = np.stack([flat // columns, flat % columns], axis=1) + 2
    there, beyond = here + ways, here + 2 * ways
    entered, behind = padded[every, there[:, 0], there[:, 1]], padded[every, beyond[:, 0], beyond[:, 1]]
    pushes = (entered == BOX) | (entered == BOX_ON_TARGET)
    pushed = pushes & ((behind == FLOOR) | (behind == TARGET))
    moved = pushed | (entered == FLOOR) | (entered == TARGET)
    every, here, there = every[moved], here[moved], there[moved]
    padded[every, here[:, 0], here[:, 1]] -= PLAYER - FLOOR  # what the player stood on: floor, or a target
    padded[every, here[:, 0], here[:, 1]] *= TARGET
    on_target = np.isin(entered[moved], (TARGET, BOX_ON_TARGET))
    padded[every, there[:, 0], there[:, 1]] = np.where(on_target, PLAYER_ON_TARGET, PLAYER)
    beyond = beyond[pushed]
    padded[np.flatnonzero(pushed), beyond[:, 0], beyond[:, 1]] = np.where(behind[pushed] == TARGET, BOX_ON_TARGET, BOX)
    return padded[:, 2:-2, 2:-2]


def pull(boards: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """The boards [M,R,C] that may precede boards [N,R,C] by one step, whose players last moved by [N,2].

    The player goes back to where it came from, and a box in front of it comes along or stays.
    """
    padded = np.pad(boards, ((0, 0), (2, 2), (2, 2)), constant_values=WALL)
    earlier = []
    for boxed in (False, True):
        every, flat = np.arange(len(boards)), (boards >= PLAYER).reshape(len(boards), -1).argmax(1)
        here = np.stack([flat // boards.shape[2], flat % boards.shape[2]], axis=1) + 2
        behind, ahead = here - ways, here + ways
        left, front = padded[every, behind[:, 0], behind[:, 1]], padded[every, ahead[:, 0], ahead[:, 1]]
        can = np.isin(left, (FLOOR, TARGET)) & (np.isin(front, (BOX, BOX_ON_TARGET)) if boxed else True)
        every, here, behind, ahead, left, front = (part[can] for part in (every, here, behind, ahead, left, front))
        before, rows = padded[every], np.arange(len(every))
        ground = np.where(before[rows, here[:, 0], here[:, 1]] == PLAYER_ON_TARGET, TARGET, FLOOR)
        if boxed:
            before[rows, ahead[:, 0], ahead[:, 1]] = np.where(front == BOX_ON_TARGET, TARGET, FLOOR)
            ground = np.where(ground == TARGET, BOX_ON_TARGET, BOX)
        before[rows, here[:, 0], here[:, 1]] = ground
        before[rows, behind[:, 0], behind[:, 1]] = np.where(left == TARGET, PLAYER_ON_TARGET, PLAYER)
        earlier.append(before[:, 2:-2, 2:-2])
    return np.concatenate(earlier)


def so_far(goals: np.ndarray, steps: int) -> np.ndarray:
    """The boards [n,R,C] that need exactly `steps` to become one of the goals [G,R,C]."""
    known, layer = goals, goals
    for _ in range(steps):
        if not len(layer):
            break
        before = np.concatenate([pull(layer, np.tile(way, (len(layer), 1))) for way in MOVES])
        everything = np.concatenate([known, before])
        first, _ = distinct(everything)
        layer = everything[first[first >= len(known)]]
        known = np.concatenate([known, layer])
    return layer


def goal_boards(board: np.ndarray) -> np.ndarray:
    """[G,R,C] every solved board of a level [R,C]: boxes on all targets, the player in every place it can reach."""
    inside = np.isin(board, (PLAYER, PLAYER_ON_TARGET))
    while True:
        wider = inside.copy()
        wider[1:] |= inside[:-1]
        wider[:-1] |= inside[1:]
        wider[:, 1:] |= inside[:, :-1]
        wider[:, :-1] |= inside[:, 1:]
        wider &= board != WALL
        if (wider == inside).all():
            break
        inside = wider
    targets = np.isin(board, (TARGET, BOX_ON_TARGET, PLAYER_ON_TARGET))
    empty = np.where(board == WALL, WALL, np.where(targets, BOX_ON_TARGET, FLOOR)).astype(np.uint8)
    places = np.argwhere(inside & ~targets)
    goals = np.repeat(empty[None], len(places), axis=0)
    goals[np.arange(len(places)), places[:, 0], places[:, 1]] = PLAYER
    return goals


make = SokobanLevels
