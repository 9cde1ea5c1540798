"""Sokoban from level files: pushes by hand and against plain ones, goals, and files that are no level files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pixelplan
from examples.sokoban import Sokoban
from examples.sokoban_levels import SIGNS, SokobanLevels, goal_boards, push, read_levels, so_far
from pixelplan.by_name.resolve import open_family
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command


def texts(boards: np.ndarray) -> list[str]:
    signs = {kind: sign for sign, kind in reversed(SIGNS.items())}
    return ["\n".join("".join(signs[kind] for kind in row) for row in board) for board in boards.tolist()]


@pytest.mark.parametrize(
    ("before", "way", "after"),
    [
        ("#####\n#@$.#\n#####", 1, "#####\n# @*#\n#####"),
        ("#####\n#@*.#\n#####", 1, "#####\n# +*#\n#####"),
        ("#####\n#+* #\n#####", 1, "#####\n#.+$#\n#####"),
        ("#####\n#@$$#\n#####", 1, "#####\n#@$$#\n#####"),
        ("#####\n# $@#\n#####", 1, "#####\n# $@#\n#####"),
        ("#####\n# $@#\n#####", 2, "#####\n#$@ #\n#####"),
        ("@$.", 1, " @*"),
        (".$@", 2, "*@ "),
        ("@", 0, "@"),
    ],
)
def test_pushes_by_hand(before, way, after):
    board = np.array([[SIGNS[sign] for sign in line] for line in before.splitlines()], np.uint8)
    ways = np.array([(-1, 0), (0, 1), (0, -1), (1, 0)])
    assert texts(push(board[None], ways[[way]])) == [after]


def test_pushes_are_those_of_the_plain_example():
    env = Sokoban(7, boxes=3)
    random = np.random.default_rng(0)
    for seed in range(20):
        env.reset(seed=seed)

        def board_of(state, env=env):
            board = np.full((7, 7), SIGNS["#"], np.uint8)
            for cell in env.free:
                sign = "$" if cell in state[1] else "@" if cell == state[0] else " "
                board[cell] = SIGNS[{"$": "*", "@": "+", " ": "."}[sign] if cell in env.targets else sign]
            return board

        board = board_of(env.state)[None]
        for action in random.integers(4, size=60):
            board = push(board, np.array([[(-1, 0), (0, 1), (0, -1), (1, 0)][action]]))
            env.state = env.move(env.state, int(action))
            np.testing.assert_array_equal(board[0], board_of(env.state))
            assert bool(~(board == SIGNS["$"]).any()) == (env.state[1] == env.targets)


def test_any_solved_board_is_the_goal():
    board = read_levels(Path("examples/sokoban_levels.txt"))[1]
    goals = goal_boards(board)
    assert len(goals) == 11  # twelve cells are free, and a box is on one of them
    assert len({goal.tobytes() for goal in goals}) == len(goals)
    family = open_family("examples.sokoban_levels:make")
    challenge = family.challenge(1)
    assert challenge.goal.frames.shape == (11, *family.shape)
    np.testing.assert_array_equal(challenge.goal_frame, challenge.goal.frames[0])


def test_a_level_made_n_steps_from_the_goal_has_no_shorter_solution():
    """Against everything that can be reached forwards; and no board at that distance is missing."""
    env = SokobanLevels()
    env.reset(seed=3)
    layers = [so_far(env.goals(), steps) for steps in range(6)]
    reached = layers[5]
    for _ in range(4):
        reached = env.after(reached).reshape(-1, *env.cells)
        assert not env.solved(reached).any()
    nearer = {board.tobytes() for layer in layers[:5] for board in layer}
    before = {board.tobytes() for board in layers[5]}
    assert not nearer & before and len(before) == len(layers[5])
    around = env.after(layers[4]).reshape(-1, *env.cells)  # whatever is one step away may also be one step before
    for board, after in zip(around, env.after(around), strict=True):
        if board.tobytes() not in nearer and any(later.tobytes() in nearer for later in after):
            assert board.tobytes() in before
    env = SokobanLevels(steps=5)
    env.reset(seed=3)
    assert [env.step(action)[4]["solved"] for action in env.shortest_solution()] == [False] * 4 + [True]
    with pytest.raises(InputError, match="level 0 has no board that is 5 steps from being solved"):
        env.reset(seed=0)
    with pytest.raises(InputError, match="steps is 25"):
        SokobanLevels(steps=25)


def test_our_own_levels_can_be_solved():
    """By a plain search over boards, up to 100,000 of them."""
    env = SokobanLevels()
    for level in range(20):
        env.reset(seed=level)
        seen, layer = {env.board.tobytes()}, env.board[None]
        while not env.solved(layer).any():
            layer = [board for board in env.after(layer).reshape(-1, *env.cells) if board.tobytes() not in seen]
            layer = list({board.tobytes(): board for board in layer}.values())
            seen.update(board.tobytes() for board in layer)
            assert layer and len(seen) < 100_000, level
            layer = np.stack(layer)


WRONG = {
    "#####\n# $.#\n#####": "line 1 of {} has no players",
    "#####\n#@$.#\n#@  #\n#####": "has 2 players",
    "#####\n#@$$.#\n#####": "has 2 boxes and 1 targets",
    "#####\n#@  #\n#####": "has 0 boxes and 0 targets",
    "#####\n#@$.x\n#####": "line 2 of {} has 'x'",
    "; nothing\n\n": "{} has no levels",
    "#" * 40 + "\n#@$.": "is 2 × 40 cells",
    "#####\n#@$.#\n#####\n\n#####\n#  .#\n#####": "the level at line 5 of {} has no players",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_with_a_level_file_is_one_sentence(text, tmp_path):
    path = tmp_path / "levels.txt"
    path.write_text(text)
    arguments = ["collect", "--env", "examples.sokoban_levels:make", "--option", f"levels={path}", "--levels", "0:1"]
    words = one_sentence(run_command(*arguments, "--out", tmp_path / "data", code=2))
    assert WRONG[text].format(path) in words
    assert not (tmp_path / "data").exists()


def test_what_is_no_level_file(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="does not exist"):
        SokobanLevels(str(tmp_path / "none.txt"))
    (tmp_path / "bytes.txt").write_bytes(bytes(range(128, 256)))
    with pytest.raises(InputError, match="is not a text file"):
        SokobanLevels(str(tmp_path / "bytes.txt"))
    with pytest.raises(InputError, match="is not a text file"):
        SokobanLevels(str(tmp_path))
    monkeypatch.setattr("examples.sokoban_levels.MOST_BYTES", 10)
    with pytest.raises(InputError, match="has at most 10"):
        SokobanLevels()


def test_levels_that_the_file_does_not_have(tmp_path):
    arguments = ["collect", "--env", "examples.sokoban_levels:make", "--episodes", "2", "--out", tmp_path / "data"]
    words = one_sentence(run_command(*arguments, "--levels", "20:30", code=2))
    assert "has no level 29; its 24 levels are numbered from 0" in words
    done = run_command(*arguments, "--levels", "20:24")
    assert len(pixelplan.open_trajectories(tmp_path / "data").episodes) == 8, done.stderr


def test_several_files_are_read_one_after_the_other(tmp_path):
    (tmp_path / "more.txt").write_text("####\n#@$.\n####\n")
    env = SokobanLevels(f"examples/sokoban_levels.txt,{tmp_path / 'more.txt'}")
    assert env.level_count == 25 and env.boards.shape == (25, 9, 9)
