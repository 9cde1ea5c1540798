"""Goals that are not one picture: any solved state, masks and sets, by the true rules and through every interface."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import pixelplan
from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.solve import solve
from pixelplan.exchange.picture_files import read_goal
from pixelplan.planning import PLANNERS, OneShotConfig, one_shot
from pixelplan.planning.latent_goal import in_latent_space
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.types import Goal, InputError
from tests.conftest import one_sentence, run_command
from tests.own_worlds import CELLS, Corridor
from tests.toy import ToyModel, frame_of

RING = np.stack([(np.arange(9) + 1) % 9, (np.arange(9) - 1) % 9], axis=1)
"""Nine states in a ring: on, back."""


@pytest.mark.parametrize("frontier", ["breadth-first", "best-first"])
def test_any_of_several_pictures_will_do(frontier: str) -> None:
    goal = Goal(np.stack([frame_of(4), frame_of(6)]))
    plan = one_shot(ToyModel(RING), frame_of(0), goal, OneShotConfig(frontier=frontier))  # type: ignore[arg-type]
    assert plan.reached and plan.actions == (1, 1, 1)
    assert goal.shown_by(frame_of(6)) and not goal.shown_by(frame_of(5))


@pytest.mark.parametrize("frontier", ["breadth-first", "best-first"])
def test_a_goal_test_decides_if_there_is_no_picture(frontier: str) -> None:
    model = ToyModel(RING)
    config = OneShotConfig(frontier=frontier)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has no goal test"):
        one_shot(model, frame_of(0), Goal(), config)
    model.goal_test = lambda z: 2.0 - 1.5 * (z.argmax(1) % 9 == 3).float()  # type: ignore[attr-defined]
    plan = one_shot(model, frame_of(0), Goal(), config)
    assert plan.reached and plan.actions == (0, 0, 0)


class Digits:
    """A world of two digits, each turned on by an action of its own; a number of the embedding for each of them."""

    threshold, noisy = 0.5, False

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(frames[:, 0, :2, 0].astype(np.float32))

    def context(self, frame: np.ndarray) -> None:
        return None

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        return torch.stack([(z + torch.tensor(change)) % 5 for change in ([1.0, 0.0], [0.0, 1.0])], dim=1)


def two_digits(one: int, other: int) -> np.ndarray:
    frame = np.zeros((2, 2, 3), np.uint8)
    frame[0, :, 0] = one, other
    return frame


def test_what_a_mask_leaves_out_does_not_matter() -> None:
    mask = np.array([[True, False], [True, True]])
    goal = Goal.of(two_digits(3, 4), mask)
    plan = one_shot(Digits(), two_digits(0, 2), goal)
    assert plan.reached and plan.actions == (0, 0, 0)
    whole = one_shot(Digits(), two_digits(0, 2), goal.frames[0])
    assert sorted(whole.actions) == [0, 0, 0, 1, 1]
    assert goal.shown_by(two_digits(3, 0)) and not goal.shown_by(two_digits(2, 4))


def test_if_every_number_depends_on_it_the_rest_stays_as_it_is() -> None:
    class Mixed(Digits):
        def encode(self, frames: np.ndarray) -> torch.Tensor:
            one, other = frames[:, 0, :2, 0].astype(np.float32).T
            return torch.from_numpy(np.stack([one + other, one - other], axis=1))

    goal = Goal.of(two_digits(3, 0), np.array([[True, False], [True, True]]))
    _, wanted = in_latent_space(Mixed(), two_digits(1, 4), goal)  # type: ignore[arg-type]
    assert wanted.matters is not None and wanted.matters.all()
    assert wanted.points.tolist() == [[7.0, -1.0]]  # 3 and 4


def test_what_a_model_does_not_see_is_not_taken_for_the_goal() -> None:
    """A model that looks at hidden pixels only takes any masked goal for the state that it is in."""

    class Looking(Digits):
        def encode(self, frames: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(frames[:, 0, [1, 1], 0].astype(np.float32))

    mask = np.array([[True, False], [True, True]])
    plan = one_shot(Looking(), two_digits(0, 2), Goal.of(two_digits(200, 0), mask), OneShotConfig(node_limit=20))
    assert not plan.reached
    here = one_shot(Looking(), two_digits(0, 2), Goal.of(two_digits(0, 0), mask))
    assert here.reached and here.actions == ()


def wide_goal(name: str, number: int) -> tuple[Goal, set[int]]:
    """A goal of which only a part of the agent's cell matters, and the states that show it."""
    level = get_level(make_puzzle(name), number)
    solved = int(np.flatnonzero(level.goals & level.reachable(level.start))[0])
    mask = np.zeros(level.background.shape[:2], bool)
    row, column = level.corners[solved]
    mask[row : row + 4, column : column + 4] = True
    goal = Goal.of(level.frame(solved), mask)
    return goal, {state for state in range(len(level.successors)) if goal.shown_by(level.frame(state))}


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("name", PUZZLES)
def test_plans_and_shortest_ways_are_counted_against_the_same_goal(name: str, planner: str) -> None:
    """Solved states, masks and sets on the oracle: what is optimal is optimal for this very goal."""
    level = get_level(make_puzzle(name), 5)
    masked, states = wide_goal(name, 5)
    assert states
    near = int(level.successors[level.start, 1]), int(level.successors[level.start, 3])
    several = Goal(np.stack([level.frame(state) for state in (*near, level.goal)]))
    for goal in ("solved", masked, several):
        challenge, episode = solve(name, 5, planner=planner, model="oracle", goal=goal)
        assert challenge.shortest is not None
        if planner != "image-search":  # which may end in a dead end
            assert episode.solved and len(episode.actions) == challenge.shortest
        if isinstance(goal, Goal):
            assert goal.shown_by(episode.frames[-1]) == episode.solved
    assert challenge.shortest <= 1  # several: a neighbour of the start is among them


def test_evaluate_takes_solved_and_says_so() -> None:
    result = evaluate("digit-jump", "1000:1010", model="oracle", goals="solved")
    assert result.goals == "solved" and result.success == 1.0 and result.optimal == 1.0
    with pytest.raises(InputError, match="goals is 'all'"):
        evaluate("digit-jump", "1000", model="oracle", goals="all")  # type: ignore[arg-type]


def test_an_own_world_is_judged_by_the_same_goal() -> None:
    corridor = Corridor()
    corridor.reset(seed=2)
    wanted = np.stack([corridor.draw(place) for place in (0, CELLS - 1)])
    challenge, episode = solve(Corridor, 2, planner="image-search", goal=Goal(wanted))
    assert episode.solved and challenge.goal.shown_by(episode.frames[-1])
    family = pixelplan.GymFamily(Corridor, goal=lambda env: Goal(np.stack([env.draw(1), env.draw(2)])))
    assert family.challenge(0).goal.frames.shape[0] == 2


def test_several_pictures_may_be_in_a_list_and_names_must_exist() -> None:
    level = get_level(make_puzzle("ice-slider"), 1001)
    pictures = [level.frame(state) for state in (level.goal, level.start)]
    _, episode = solve("ice-slider", 1001, model="oracle", goal=pictures)
    assert episode.solved and episode.actions == ()
    assert pixelplan.plan(Oracle(level), level.frame(level.start), pictures).actions == ()
    for env in ("ice-slider", Corridor):
        with pytest.raises(InputError, match="goals is 'sovled'; it is one of"):
            solve(env, 1, planner="image-search", goal="sovled")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the goal frames differ in size"):
        Goal.of([pictures[0], pictures[1][:32]])
    with pytest.raises(InputError, match="a Goal has its own masks"):
        Goal.of(Goal.of(pictures[0]), np.ones((64, 64), bool))


@pytest.mark.parametrize(
    ("frames", "masks", "what"),
    [
        (np.zeros((1, 4, 4, 3), np.uint8), np.ones((1, 5, 4), bool), "mask is bool"),
        (np.zeros((1, 4, 4, 3), np.uint8), np.ones((1, 4, 4), np.uint8), "mask is uint8"),
        (np.zeros((1, 4, 4, 3), np.uint8), np.zeros((1, 4, 4), bool), "every state would be the goal"),
        (np.zeros((1, 4, 4, 3), np.float32), None, "goal frame is float32"),
        (np.zeros((0, 4, 4, 3), np.uint8), None, "goal frame is uint8"),
        (None, np.ones((1, 4, 4), bool), "there is no goal frame"),
    ],
)
def test_what_is_no_goal_is_refused(frames: np.ndarray | None, masks: np.ndarray | None, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Goal(frames, masks)


def test_pictures_with_transparent_parts(tmp_path: Path) -> None:
    """From files, in every size: a pixel matters if all that it is made of does."""
    picture = np.full((8, 8, 4), 255, np.uint8)
    picture[:, :3, 3] = 0
    Image.fromarray(picture).save(tmp_path / "a.png")
    Image.fromarray(picture[..., :3]).save(tmp_path / "b.png")
    Image.fromarray(picture[:4]).save(tmp_path / "c.png")
    goal = read_goal([tmp_path / "a.png", tmp_path / "b.png"])
    assert goal.masks is not None and goal.masks[1].all() and goal.masks[0].sum() == 40
    assert read_goal([tmp_path / "b.png"]).masks is None
    from pixelplan.envs.frames import resized_goal

    small = resized_goal(goal, (4, 4))
    assert small.masks is not None and small.masks[0].sum() == 8
    with pytest.raises(InputError, match="goal pictures must have one size"):
        read_goal([tmp_path / "a.png", tmp_path / "c.png"])


def test_goals_from_the_command_line(tmp_path: Path) -> None:
    level = get_level(make_puzzle("ice-slider"), 1001)
    frame = level.frame(level.goal)
    alpha = np.dstack([frame, np.full(frame.shape[:2], 255, np.uint8)])
    alpha[24:32, :8] = 0  # a cell in which neither the start nor the goal is
    Image.fromarray(alpha).save(tmp_path / "part.png")
    Image.fromarray(level.frame(level.start)).save(tmp_path / "start.png")
    play = ["solve", "--env", "ice-slider", "--level", "1001"]
    assert "level 1001: solved" in run_command(*play, "--goal", tmp_path / "part.png").stdout
    both = run_command(*play, "--goal", tmp_path / "part.png", tmp_path / "start.png").stdout
    assert "solved after 0 steps" in both
    assert "solved" in run_command(*play, "--model", "oracle", "--goals", "solved").stdout
    refused = run_command(*play, "--goals", "solved", code=2)
    assert "has no goal test" in one_sentence(refused)
    assert "give one of --goal" in one_sentence(run_command(*play, "--goals", "level", "--demonstration", "1", code=2))


def test_in_python_a_mask_is_an_argument() -> None:
    level = get_level(make_puzzle("digit-jump"), 1)
    mask = np.zeros(level.background.shape[:2], bool)
    mask[:8, :8] = True  # where the agent is now: any state in which it is elsewhere shows something else
    plan = pixelplan.plan(Oracle(level), level.frame(level.start), level.frame(level.start), mask=mask)
    assert plan.reached and plan.actions == ()
    elsewhere = int(level.successors[level.start, 1])
    assert elsewhere != level.start
    for given in (mask, mask.tolist()):
        plan = pixelplan.plan(Oracle(level), level.frame(level.start), level.frame(elsewhere), mask=given)
        assert plan.reached and len(plan.actions) == 1
    named = pixelplan.plan("digit-jump", level.frame(level.start), level.frame(elsewhere))
    assert named.reached and len(named.actions) == 1
    assert dataclasses.is_dataclass(pixelplan.Goal)
    assert pixelplan.plan(Oracle(level), level.frame(level.start), "solved").reached
