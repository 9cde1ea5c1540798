"""The goal test: learned if solved states are known, stored with the model, and honest about itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import pixelplan
from pixelplan.evaluation.play import weights_of
from pixelplan.families.presets import preset
from pixelplan.files import write_json
from pixelplan.model import learn_goal_test as learning
from pixelplan.model.batches import LevelPlay
from pixelplan.model.checkpoint import CONFIG, GOAL_TEST, load_model, read_description, save_model
from pixelplan.model.find_family import family_of
from pixelplan.model.goal_test import Certainty, GoalTestConfig, LearnedGoalTest, warnings
from pixelplan.model.learn_goal_test import draw_line, learn_goal_test, readings
from pixelplan.model.world_model import WorldModel
from pixelplan.reports.summaries import summarise_goal_test
from pixelplan.types import Goal, InputError
from tests.own_worlds import Corridor
from tests.tiny_world import play

SIDE = 5


class Lattice:
    """A model of boards of 5 × 5 cells with an agent and a target: an embedding is what is in each cell."""

    threshold, noisy = 0.5, False

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(frames[..., :2].astype(np.float32)).permute(0, 3, 1, 2).flatten(1)

    def context(self, frame: np.ndarray) -> None:
        return None

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        places = z.view(len(z), 2, SIDE, SIDE)
        right = torch.stack([places[:, 0].roll(1, 2), places[:, 1]], dim=1).flatten(1)
        down = torch.stack([places[:, 0].roll(1, 1), places[:, 1]], dim=1).flatten(1)
        return torch.stack([right, down], dim=1)


def board(agent: int, target: int) -> np.ndarray:
    frame = np.zeros((SIDE * SIDE, 3), np.uint8)
    frame[agent, 0], frame[target, 1] = 1, 1
    return frame.reshape(SIDE, SIDE, 3)


def walk(seed: int, steps: int = 30, says: bool = True) -> LevelPlay:
    """Random play on a board; it is solved when agent and target meet."""
    random = np.random.default_rng(seed)
    target, agent = random.integers(SIDE * SIDE, size=2)
    seen: dict[int, int] = {}
    row, actions = [], random.integers(2, size=steps)
    for action in [*actions, 0]:
        row.append(seen.setdefault(int(agent), len(seen)))
        line, column = divmod(int(agent), SIDE)
        agent = line * SIDE + (column + 1) % SIDE if action == 0 else (line + 1) % SIDE * SIDE + column
    places = np.array(list(seen))
    frames = np.stack([board(place, target) for place in places])
    solved = (places == target).astype(np.int8) if says else np.full(len(places), -1, np.int8)
    return LevelPlay(frames, np.arange(len(seen)), np.array([row]), actions[None], solved=solved)


def test_it_learns_what_solved_states_have_in_common() -> None:
    learned = learn_goal_test(
        Lattice(), [walk(seed) for seed in range(60)], [walk(seed) for seed in range(60, 90)], 5, 5
    )
    assert learned is not None
    test, report = learned
    assert test.network.reading == "channels first" and report.held_out and report.levels == 30
    assert report.missed is not None and report.missed <= 0.05 and report.false_alarms <= 0.01
    targets = np.arange(SIDE * SIDE)
    met = np.stack([board(target, target) for target in targets])
    apart = np.stack([board(target, (target + 7) % 25) for target in targets])
    assert (test(Lattice().encode(met)) < 1).float().mean() > 0.9
    assert (test(Lattice().encode(apart)) < 1).float().mean() < 0.05
    assert not warnings(report, GoalTestConfig())
    assert warnings(report, GoalTestConfig(many_alarms=-1.0))


@pytest.mark.parametrize("setting", [{"warm_up": 0.9}, {"neighbourhood": 1}])
def test_how_it_learns_is_a_setting(setting: dict[str, Any]) -> None:
    levels, certain = [walk(seed) for seed in range(20)], []
    for config in (GoalTestConfig(updates=20), GoalTestConfig(updates=20), GoalTestConfig(updates=20, **setting)):
        learned = learn_goal_test(Lattice(), levels, [], 5, 5, config)
        assert learned is not None
        certain.append(learned[0](Lattice().encode(levels[0].frames)))
    assert torch.equal(certain[0], certain[1]) and not torch.equal(certain[0], certain[2])


def nearly(seed: int, others: int = 300) -> LevelPlay:
    """A level whose target shows in two frames only: where it is met, and beside the agent, twice as large."""
    random = np.random.default_rng(seed)
    target = int(random.integers(SIDE * SIDE))
    hidden = np.stack([board(int(agent), target) for agent in random.integers(SIDE * SIDE, size=others)])
    hidden[..., 1] = 0
    beside = board((target + 1) % 25, target)
    beside.reshape(-1, 3)[(target + 2) % 25, 1] = 1
    frames = np.concatenate([hidden, beside[None], board(target, target)[None]])
    path = np.arange(len(frames))
    solved = (path == len(frames) - 1).astype(np.int8)
    return LevelPlay(frames, path, path[None], np.zeros((1, len(frames) - 1), np.int64), solved=solved)


def test_it_learns_from_the_rare_states_that_nearly_solve_a_level() -> None:
    levels = [nearly(seed) for seed in range(90)]
    learned = learn_goal_test(Lattice(), levels[:60], levels[60:], 5, 5, GoalTestConfig(frames=2))
    assert learned is not None and learned[1].missed == 0
    near = Lattice().encode(np.stack([level.frames[-2] for level in map(nearly, range(90, 130))]))
    assert (learned[0](near) < 1).float().mean() < 0.05


class Signs(Lattice):
    """Boards with a third kind of thing."""

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(frames.astype(np.float32)).permute(0, 3, 1, 2).flatten(1)


def alike(seed: int, boards: int = 12) -> LevelPlay:
    """A level that is solved where the agent stands on the colour that the top left corner shows."""
    random = np.random.default_rng([seed, 9])
    sign = int(random.integers(2))
    frames = np.zeros((boards, SIDE, SIDE, 3), np.uint8)
    frames[:, 0, 0, sign] = 1
    solved = np.zeros(boards, np.int8)
    for number, frame in enumerate(frames):
        cells = 7 + random.permutation(SIDE * SIDE - 7)[:3]
        frame.reshape(-1, 3)[cells[:2], [0, 1]] = 1
        agent = cells[number % 3]
        frame.reshape(-1, 3)[agent, 2] = 1
        solved[number] = number % 3 == sign
    still = np.zeros((1, 2), np.int64)
    return LevelPlay(frames, np.arange(boards), still, still[:, :1], solved=solved)


def test_it_compares_places_if_it_has_to() -> None:
    levels = [alike(seed) for seed in range(120)]
    learned = learn_goal_test(Signs(), levels[:90], levels[90:], 5, 5, GoalTestConfig(updates=200))
    assert learned is not None
    test, report = learned
    assert test.network.reading == "channels first, compared"
    assert report.missed is not None and report.missed <= 0.05 and report.false_alarms <= 0.02
    hasty = learn_goal_test(Signs(), levels[:90], levels[90:], 5, 5, GoalTestConfig(updates=4, compared=1))
    assert hasty is not None and hasty[1].missed is not None and hasty[1].missed + hasty[1].false_alarms > 0.1


def test_it_does_not_compare_places_if_states_do_not_show_what_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level has a goal of its own, so no reading can be right."""
    levels = []
    for seed in range(60):
        level = alike(seed)
        solved = np.zeros(len(level.frames), np.int8)
        solved[np.random.default_rng([seed, 5]).integers(len(solved))] = 1
        levels.append(dataclasses.replace(level, solved=solved))
    tried: list[str] = []
    make = learning.Certainty
    monkeypatch.setattr(learning, "Certainty", lambda *words: tried.append(words[3]) or make(*words))
    config = GoalTestConfig(updates=60)
    assert learn_goal_test(Signs(), levels[:40], levels[40:], 5, 5, config) is not None
    assert tried == ["channels first", "channels last", "list"]
    tried.clear()
    learn_goal_test(Signs(), levels[:40], levels[40:], 5, 5, dataclasses.replace(config, hopeless=2.0))
    assert len(tried) == 5


def test_without_a_solved_state_there_is_none() -> None:
    unsaid = [walk(seed, says=False) for seed in range(5)]
    assert learn_goal_test(Lattice(), unsaid, unsaid, 5, 5) is None
    never = [level for level in map(walk, range(40)) if level.solved is not None and not level.solved.any()]
    assert never and learn_goal_test(Lattice(), never, never, 5, 5) is None
    assert "none" in summarise_goal_test(None) and warnings(None, GoalTestConfig()) == []


def test_what_cannot_be_seen_is_not_learned_and_it_says_so() -> None:
    """Solved at random: the state does not show it."""
    random = np.random.default_rng(0)
    levels = []
    for seed in range(60):
        level = walk(seed)
        chance = (random.random(len(level.frames)) < 0.3).astype(np.int8)
        levels.append(LevelPlay(level.frames, level.states, level.episodes, level.actions, solved=chance))
    learned = learn_goal_test(Lattice(), levels[:40], levels[40:], 5, 5, GoalTestConfig(updates=100))
    assert learned is not None and "cannot be trusted" in warnings(learned[1], GoalTestConfig())[0]


def test_the_line_has_the_fewest_mistakes() -> None:
    line, mistakes = draw_line(np.array([0.0, 1.0, 2.0, 5.0, 7.0]), np.array([False, False, False, True, True]))
    assert mistakes == 0 and line == pytest.approx(3.5)
    _, mistakes = draw_line(np.array([0.0, 1.0, 2.0, 5.0]), np.array([True, False, False, True]))
    assert mistakes == 1
    assert readings(32, 1) == ["list"] and readings(10, 4) == ["list"] and len(readings(100, 25)) == 5


def a_model() -> WorldModel:
    settings, sizes = family_of(preset("tiny").model).fit(preset("tiny").model, None, play())
    return WorldModel(settings, sizes, threshold=0.5)


@pytest.mark.parametrize("neighbourhood", [1, 3, 5])
def test_it_is_stored_with_the_model_and_checked(neighbourhood: int, tmp_path: Path) -> None:
    model = a_model()
    z = model.encode(play().frames)
    network = Certainty(z.shape[1], 2, z.shape[1] // 2, "channels last", 8, neighbourhood)
    model.goal_test = LearnedGoalTest(network, 0.5)
    save_model(tmp_path, model, {"data": {}})
    again = load_model(tmp_path)
    assert again.goal_test is not None and torch.equal(again.goal_test(z), model.goal_test(z))
    assert weights_of(again) == weights_of(model)
    stored = (tmp_path / GOAL_TEST).read_bytes()
    (tmp_path / GOAL_TEST).write_bytes(stored[:-4] + b"abcd")
    with pytest.raises(InputError, match="checksum"):
        load_model(tmp_path)
    (tmp_path / GOAL_TEST).unlink()
    with pytest.raises(InputError, match="is missing"):
        load_model(tmp_path)
    (tmp_path / GOAL_TEST).write_bytes(stored)
    description: dict[str, Any] = read_description(tmp_path)
    for impossible in (
        {"reading": "backwards"}, {"line": float("nan")}, {"line": "inf"}, {"rows": float("inf")}, {"rows": 0},
        {"rows": 99}, {"rows": -2, "columns": -z.shape[1] // 2}, {"columns": None}, {"sha256": None, "rows": 2**40},
    ):  # fmt: skip
        write_json(tmp_path / CONFIG, {**description, "goal_test": {**description["goal_test"], **impossible}})
        with pytest.raises(InputError, match=r"goal test|tensor"):
            load_model(tmp_path)


class Pictured(Corridor):
    """Shows its goal, and never says that it is reached."""

    def info(self) -> dict:
        return {}


def test_seeing_the_goals_picture_is_an_example(tmp_path: Path) -> None:
    for explore in (False, True):
        data = pixelplan.collect(Pictured, "0:3", tmp_path / str(explore), episodes=4, steps=20, explore=explore)
        assert data.solved is not None and data.solved.sum() == 3 and not (data.solved < 0).any()
        for number, frame in zip(data.frame_level[data.solved == 1], data.frames[data.solved == 1], strict=True):
            corridor = Pictured()
            corridor.reset(seed=int(number))
            assert np.array_equal(frame, corridor.goal_frame())


class Lamps(gymnasium.Env):
    """Six lamps, each with its switch, at most one of them lit. All are to be lit, which takes five steps or more."""

    action_space = gymnasium.spaces.Discrete(6)
    observation_space = gymnasium.spaces.Box(0, 255, (16, 48, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.colour = self.np_random.integers(60, 250, 3)
        self.lit = np.arange(6) == self.np_random.integers(7)
        return self.draw(self.lit), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.lit = self.lit ^ (np.arange(6) == action)
        return self.draw(self.lit), 0.0, False, False, {}

    def draw(self, lit: np.ndarray) -> np.ndarray:
        frame = np.zeros((16, 6, 8, 3), np.uint8)
        frame[4:12, :, 1:7] = 30
        frame[4:12, lit, 1:7] = self.colour
        return frame.reshape(16, 48, 3)

    def goal_frame(self) -> np.ndarray:
        return self.draw(np.ones(6, bool))


def test_a_goals_picture_is_an_example_if_play_never_reached_it(tmp_path: Path) -> None:
    options: dict[str, Any] = {"episodes": 20, "steps": 4, "explore": False}
    data = pixelplan.collect(Lamps, "0:100", tmp_path / "data", **options)
    assert data.solved is not None and not data.solved.any()
    assert data.goals is not None and data.goal_level is not None and data.goal_level.tolist() == list(range(100))
    model = pixelplan.train(data, tmp_path / "model", threads=1)
    report = read_description(tmp_path / "model")["findings"]["goal_test"]
    assert report["trained_on"] == report["with_goal"] == 0 and report["held_out"] and report["missed"] == 0
    assert report["pictures"] > 50 and f"and {report['pictures']} goal pictures" in summarise_goal_test(report)
    result = pixelplan.evaluate(Lamps, "1000:1010", planner="one-shot", model=model, goals="solved")
    assert result.success == 1


def test_a_model_without_one_says_what_to_do() -> None:
    model = a_model()
    frame = play().frames[0]
    with pytest.raises(InputError, match="collect --explore"):
        pixelplan.plan(model, frame, "solved")
    with pytest.raises(InputError, match="collect --explore"):
        pixelplan.plan(model, frame, Goal())
