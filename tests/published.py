"""The generators in plain Python, as slow and as plain as their description: what the fast ones are checked against."""

from __future__ import annotations

import random
from collections.abc import Callable

STEPS = ((-1, 0), (0, 1), (0, -1), (1, 0))
Cell = tuple[int, int]
Move = Callable[[Cell, int], Cell]


def slide(free: list[list[bool]], cell: Cell, action: int) -> Cell:
    """Where a slide on ice ends."""
    row, column = cell
    row_step, column_step = STEPS[action]
    size = len(free)
    while (
        0 <= row + row_step < size and 0 <= column + column_step < size and free[row + row_step][column + column_step]
    ):
        row, column = row + row_step, column + column_step
    return row, column


def jump(digits: list[list[int]], cell: Cell, action: int) -> Cell:
    """Where a jump lands."""
    row, column = cell
    row_step, column_step = STEPS[action]
    length = digits[row][column]
    landing = row + row_step * length, column + column_step * length
    return landing if all(0 <= part < len(digits) for part in landing) else cell


def solve(start: Cell, goal: Cell, move: Move) -> list[int] | None:
    """The first shortest solution, or None."""
    paths: dict[Cell, list[int]] = {start: []}
    queue = [start]
    while queue:
        cell = queue.pop(0)
        if cell == goal:
            return paths[cell]
        for action in range(4):
            there = move(cell, action)
            if there not in paths:
                paths[there] = [*paths[cell], action]
                queue.append(there)
    return None


def reachable(start: Cell, move: Move) -> set[Cell]:
    """Every cell that can be reached."""
    seen, stack = {start}, [start]
    while stack:
        cell = stack.pop()
        for action in range(4):
            there = move(cell, action)
            if there not in seen:
                seen.add(there)
                stack.append(there)
    return seen


def ice_slider(level: int, size: int = 8) -> tuple[list[list[bool]], Cell, Cell, list[int]]:
    """Free cells, start, goal and solution of the published level."""
    draw = random.Random(level)
    while True:
        start = (0, draw.randint(0, size - 1))
        goal = (size - 1, draw.randint(0, size - 1))
        free = [[draw.randint(0, 4) != 0 for _ in range(size)] for _ in range(size)]
        free[0][start[1]] = free[size - 1][goal[1]] = True

        def move(cell: Cell, action: int, free: list[list[bool]] = free) -> Cell:
            return slide(free, cell, action)

        solution = solve(start, goal, move)
        if solution is None or len(solution) <= 8:
            continue
        if any(goal not in reachable(cell, move) for cell in reachable(start, move)):
            return free, start, goal, solution


def digit_jump(level: int, size: int = 8) -> tuple[list[list[int]], Cell, Cell, list[int]]:
    """Digits, start, goal and solution of the published level."""
    draw = random.Random(level)
    while True:
        digits = [[draw.randint(1, min(6, size - 1)) for _ in range(size)] for _ in range(size)]
        goal = (size - 1, size - 1)

        def move(cell: Cell, action: int, digits: list[list[int]] = digits) -> Cell:
            return jump(digits, cell, action)

        solution = solve((0, 0), goal, move)
        if solution is not None:
            return digits, (0, 0), goal, solution
