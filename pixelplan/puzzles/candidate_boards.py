"""Which of many candidate boards makes a level: searched all at once."""

from __future__ import annotations

import numpy as np


def first_suitable(
    successors: np.ndarray, start: np.ndarray, goal: np.ndarray, minimum_length: int, dead_ends: bool
) -> int | None:
    """The index of the first suitable board, or None.

    Boards are given as tables of successors [A,S,B] with start [B] and goal [B] states. A board is suitable when its
    shortest solution has at least `minimum_length` moves and, if `dead_ends`, the goal can be lost on the way.
    (Boards come last everywhere here, because work on many boards is then work on long arrays.)
    """
    distance = goal_distance(successors, start, goal, minimum_length)
    for board in np.flatnonzero(distance >= minimum_length):
        if not dead_ends or has_dead_end(successors[:, :, board].T, int(start[board]), int(goal[board])):
            return int(board)
    return None


def goal_distance(successors: np.ndarray, start: np.ndarray, goal: np.ndarray, enough: int) -> np.ndarray:
    """Moves [B] from start to goal, -1 if there is no way.

    Breadth first on all boards together, a layer per round. A board solved in fewer than `enough` moves is dropped.
    """
    actions, states, boards = successors.shape
    board = np.arange(boards)
    table = (successors.astype(np.int32) * np.int32(boards) + board.astype(np.int32)).reshape(actions, -1)
    goal, frontier = goal * boards + board, start * boards + board
    distance = np.full(boards, -1)
    visited = np.zeros(boards * states, bool)
    stamp = np.empty(boards * states, np.int32)
    visited[frontier] = True
    depth = 0
    while len(frontier):
        depth += 1
        reached = table[:, frontier].ravel()
        reached = reached[~visited[reached]]
        stamp[reached] = np.arange(len(reached))  # the last writer of each state stands for its duplicates
        frontier = reached[stamp[reached] == np.arange(len(reached))]
        visited[frontier] = True
        solved = visited[goal] & (distance < 0)
        distance[solved] = depth
        if depth < enough and solved.any():
            frontier = frontier[~solved[frontier % boards]]
    return distance


def has_dead_end(successors: np.ndarray, start: int, goal: int) -> bool:
    """Whether some state that can be reached from the start cannot reach the goal; successors are [S,A]."""
    table = successors.tolist()  # a board has a dozen reachable states: plain lists beat arrays
    came_from: dict[int, list[int]] = {start: []}
    stack = [start]
    while stack:
        here = stack.pop()
        for there in table[here]:
            if there not in came_from:
                came_from[there] = []
                stack.append(there)
            came_from[there].append(here)
    if goal not in came_from:
        return True
    saved, stack = {goal}, [goal]
    while stack:
        for there in came_from[stack.pop()]:
            if there not in saved:
                saved.add(there)
                stack.append(there)
    return len(saved) < len(came_from)
