"""Exploration reaches what random play does not, is as exact, and the default chooses between the two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import pixelplan
from pixelplan.by_name.resolve import open_family
from pixelplan.data.collect import ChoiceConfig, reach
from pixelplan.envs.noise_config import Noise
from pixelplan.types import InputError
from pixelplan.worlds.explore import ExploreConfig, Explorer, explore
from pixelplan.worlds.noise import Noisy
from tests.conftest import one_sentence, run_command
from tests.own_worlds import Corridor

CELLS = 60
DOOR = CELLS // 2


class LongCorridor(gymnasium.Env):
    """Sixty cells with a closed door in the middle; actions: back, forward, open the door. The end pays."""

    action_space = gymnasium.spaces.Discrete(3)
    observation_space = gymnasium.spaces.Box(0, 255, (8, CELLS, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.place, self.open = int(self.np_random.integers(3)), False
        return self.draw(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        there = self.place + (-1, 1, 0)[action]
        self.open |= action == 2 and self.place == DOOR - 1
        if 0 <= there < CELLS and (there != DOOR or self.open):
            self.place = there
        end = self.place == CELLS - 1
        return self.draw(), float(end), end, False, {}

    def draw(self) -> np.ndarray:
        frame = np.zeros((8, CELLS, 3), np.uint8)
        frame[:, DOOR] = (0, 200 if self.open else 80, 0)
        frame[2:6, self.place] = 255
        return frame


def long_corridor() -> gymnasium.Env:
    return LongCorridor()


def test_a_corridor_of_sixty_cells_with_a_door() -> None:
    """With 400 steps, exploring opens the door and reaches the end in every level; random play never does, even with
    ten times as many."""
    family = open_family(long_corridor)
    explored = reach(family, [0, 1, 2, 3], 20, 20, 0, True)
    by_chance = reach(family, [0, 1, 2, 3], 20, 20, 0, False)
    at_length = reach(family, [0, 1], 200, 20, 0, False)
    assert explored.goals == 4 and by_chance.goals == at_length.goals == 0
    assert explored.frames > 3 * by_chance.frames and explored.frames > 2 * at_length.frames


@pytest.mark.parametrize("env", ["long", "ice-slider"])
def test_what_is_recorded_is_what_happens(env: str, tmp_path: Path) -> None:
    """Every recorded step is true, the first episode begins with the level, and there are as many steps as asked."""
    world: Any = long_corridor if env == "long" else env
    data = pixelplan.collect(world, "0:3", tmp_path / "data", episodes=6, steps=9, explore=True)
    assert data.manifest["explore"] is True and data.actions.shape == (18, 9)
    level: Any = None
    for episode, actions, number in zip(data.episodes, data.actions, data.episode_level, strict=True):
        if level is None or level[0] != number:
            level = number, open_family(world).level(int(number))
            here = level[1].reset()[0]
            assert np.array_equal(here, data.frames[episode[0]])
        if not np.array_equal(here, data.frames[episode[0]]):
            here = level[1].reset()[0]  # an episode continues where the last one ended, or starts again
        for action, index in zip(actions, episode[1:], strict=True):
            here = level[1].step(int(action))[0]
            assert np.array_equal(here, data.frames[index])


def test_a_small_world_is_seen_whole(tmp_path: Path) -> None:
    data = pixelplan.collect(Corridor, "0", tmp_path / "data", episodes=4, steps=10, explore=True)
    assert len(data.frames) == len(np.unique(data.episodes))
    steps = np.stack([data.episodes[:, :-1].ravel(), data.actions.ravel()], axis=1)
    assert len(np.unique(steps, axis=0)) == 2 * len(data.frames), "every action was tried everywhere"


def test_the_same_seed_explores_the_same_and_resumes(tmp_path: Path) -> None:
    one, two = (
        pixelplan.collect(long_corridor, "0:3", tmp_path / name, episodes=4, steps=10, explore=True) for name in "ab"
    )
    other = pixelplan.collect(long_corridor, "0:3", tmp_path / "c", episodes=4, steps=10, explore=True, seed=1)
    assert one.manifest["sha256"] == two.manifest["sha256"] != other.manifest["sha256"]
    again = pixelplan.collect(long_corridor, "0:3", tmp_path / "a", episodes=4, steps=10, explore=True, resume=True)
    assert again.manifest["sha256"] == one.manifest["sha256"]
    with pytest.raises(InputError, match="explore"):
        pixelplan.collect(long_corridor, "0:3", tmp_path / "a", episodes=4, steps=10, explore=False, resume=True)


def test_the_default_chooses_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    far = pixelplan.collect(long_corridor, "0:2", tmp_path / "far")
    assert far.manifest.get("explore") and "play explores" in capsys.readouterr().err
    small = pixelplan.collect(Corridor, "0:2", tmp_path / "small")
    assert "explore" not in small.manifest and "play is random" in capsys.readouterr().err
    strict = pixelplan.collect(Corridor, "0:2", tmp_path / "strict", choice=ChoiceConfig(levels=1, enough=2.0))
    assert strict.manifest.get("explore") and "the goal in 1 of 1" in capsys.readouterr().err
    puzzle = pixelplan.collect("ice-slider", "0:2", tmp_path / "puzzle")
    assert "explore" not in puzzle.manifest and not capsys.readouterr().err
    assert far.solved is not None and puzzle.solved is not None and (far.solved == 1).sum() == 2


def test_episodes_become_longer_if_goals_are_not_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ChoiceConfig(steps=2, longer=(20,))
    for name, asked in (("chosen", None), ("asked", True)):
        data = pixelplan.collect(long_corridor, "0:2", tmp_path / name, choice=short, explore=asked)
        assert data.actions.shape[1] == 20 and data.manifest["explore"]
        assert "with 20 steps instead of 2" in (message := capsys.readouterr().err) and "--steps decides" in message
    content = ChoiceConfig(steps=2, longer=(20,), few=0.0)
    assert pixelplan.collect(long_corridor, "0:2", tmp_path / "few", choice=content).actions.shape[1] == 2
    assert pixelplan.collect(long_corridor, "0:2", tmp_path / "said", choice=short, steps=3).actions.shape[1] == 3


class Locked:
    """A room of 3 × 3 cells with a key that can be put down anywhere, and a door that it opens, as numbered states.

    Actions: turn left, turn right, go on, take, put down, open, nothing.
    """

    ahead = ((0, 1), (1, 0), (0, -1), (-1, 0))

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        start, key = (divmod(int(cell), 3) for cell in random.permutation(9)[:2])
        self.first = (start, int(random.integers(4)), key, False)
        self.door, self.numbers = (int(random.integers(3)), 3), dict[Any, int]()

    @property
    def over(self) -> bool:
        return self.state[3]

    def reset(self) -> int:
        self.state = self.first
        return self.numbers.setdefault(self.state, len(self.numbers))

    def step(self, action: int) -> int:
        place, turned, key, _ = self.state
        there = place[0] + self.ahead[turned][0], place[1] + self.ahead[turned][1]
        inside = min(there) >= 0 and max(there) < 3
        if self.over:
            pass
        elif action < 2:
            self.state = (place, (turned + 2 * action - 1) % 4, key, False)
        elif action == 2 and inside and there != key:
            self.state = (there, turned, key, False)
        elif action == 3 and there == key:
            self.state = (place, turned, None, False)
        elif action == 4 and key is None and inside:
            self.state = (place, turned, there, False)
        elif action == 5 and key is None and there == self.door:
            self.state = (place, turned, key, True)
        return self.numbers.setdefault(self.state, len(self.numbers))


def test_what_never_did_anything_is_tried_again_elsewhere() -> None:
    """A key that can be put down everywhere makes more states than anyone can see; the door is opened all the same."""

    def opened(least: float) -> int:
        rooms = [Locked(seed) for seed in range(20)]
        for seed, room in enumerate(rooms):
            explore(room, 7, 20, 20, np.random.default_rng(seed), ExploreConfig(least))
        return sum(any(over for *_, over in room.numbers) for room in rooms)

    assert opened(ExploreConfig().least) > opened(0.0)


class Ring:
    """Places in a ring. If it `slips`, every 37th step goes the other way, as if frames hid something."""

    over = False

    def __init__(self, places: int, slips: bool) -> None:
        self.places, self.slips, self.steps = places, slips, 0

    def reset(self) -> int:
        self.here = 0
        return 0

    def step(self, action: int) -> int:
        self.steps += 1
        change = (1, -1)[(action + (self.slips and self.steps % 37 == 0)) % 2]
        self.here = min(max(self.here + change, 0), self.places - 1)
        return self.here


@pytest.mark.parametrize("slips", [False, True])
def test_actions_drawn_all_at_once_are_those_drawn_one_by_one(slips: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """If nothing is left to try, an episode is drawn at once, until something new happens after all."""

    def play() -> list[bytes]:
        return [part.tobytes() for part in explore(Ring(6, slips), 2, 30, 20, np.random.default_rng(3))]

    at_once = play()
    monkeypatch.setattr(Explorer, "at_random", lambda *_: 0)
    assert play() == at_once


def test_bad_input_is_a_sentence(tmp_path: Path) -> None:
    noisy = Noisy(open_family(Corridor), Noise(noise=10))
    with pytest.raises(InputError, match="needs frames that recur, and with noise none does"):
        pixelplan.collect(noisy, "0:2", tmp_path / "data", explore=True)
    words = ["collect", "--env", "tests.test_explore:long_corridor", "--levels", "0:2", "--out", tmp_path / "data"]
    assert "not both" in one_sentence(run_command(*words, "--explore", "--random", code=2))
    assert "the goal was seen in 2 of 2 levels" in run_command(*words, "--explore").stdout
