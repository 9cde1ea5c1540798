"""check-env says what will happen: what fits, what does not and why, how far play comes, and what to run next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from pixelplan.by_name.resolve import open_family
from pixelplan.worlds.check_env import Check, check_env
from pixelplan.worlds.env_findings import CheckConfig, levels_advised
from pixelplan.worlds.seen import Sample
from tests.conftest import one_sentence, run_command
from tests.own_worlds import CELLS, SIDE, Corridor


class Timed(Corridor):
    """Shows how many steps were taken."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.time = 0
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        self.time += 1
        return super().step(action)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4, : self.time % 40] = 200
        return frame


class Scored(Corridor):
    """Shows a score, which grows by more at the right end."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.score = 0
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        self.score += 3 if self.place == CELLS - 1 else 1
        return super().step(action)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4, : min(self.score, CELLS * SIDE)] = 200
        return frame


class Remembering(Corridor):
    """Shows all that was done as a number, on which steps depend: no state comes back, and nothing may be hidden."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.number = 1
        return super().reset(seed=seed)

    def moved(self, place: int, action: int) -> int:
        self.number = 3 * self.number + place + action
        return super().moved(place, action ^ self.number >> 1 & 1)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4] = [[200 * (self.number >> bit & 1)] * 3 for bit in range(CELLS * SIDE)]
        return frame


class Sticky(Corridor):
    """Now and then an action is replaced by the one before, by chance that its own generator decides."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.chance, self.last = np.random.default_rng(seed), 0
        return super().reset(seed=0)

    def step(self, action: int) -> Any:
        self.last = self.last if self.chance.random() < 0.25 else int(action)
        return super().step(self.last)


class Careless(Corridor):
    """Its levels come from numpy's global generator."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        shown = super().reset(seed=seed)
        self.place = int(np.random.randint(4))  # noqa: NPY002
        return self.draw(self.place), shown[1]


class Short(Corridor):
    """Ends with its first step."""

    goal_frame = None  # type: ignore[assignment]

    def step(self, action: int) -> Any:
        frame, _, _, _, _ = super().step(action)
        return frame, 0.0, True, False, {}


class Paying(Corridor):
    """Pays for every step and never ends."""

    goal_frame = None  # type: ignore[assignment]

    def info(self) -> dict:
        return {}

    def step(self, action: int) -> Any:
        return super().step(action)[0], 1.0, False, False, {}


class Paid(Corridor):
    """Its reward is what the options say."""

    def __init__(self, reward: Any) -> None:
        super().__init__()
        self.reward = reward

    def step(self, action: int) -> Any:
        frame, _, *rest = super().step(action)
        return (frame, self.reward, *rest)


def vector() -> gymnasium.Env:
    return Paid(np.zeros(3))


def unpaid() -> gymnasium.Env:
    return Paid(None)


def itemised() -> gymnasium.Env:
    return Paid({"coins": 1.0})


def undefined() -> gymnasium.Env:
    return Paid(float("nan"))


class Tall(Corridor):
    """Draws more than is kept, and slowly."""

    tile_size = 32

    def draw(self, place: int) -> np.ndarray:
        import time

        time.sleep(0.012)
        return np.repeat(np.repeat(super().draw(place), 8, axis=0), 8, axis=1)

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gymnasium.spaces.Box(0, 255, (32 * SIDE, 48 * SIDE, 3), np.uint8)


def found(world: Any, **options: Any) -> Check:
    return check_env(open_family(world), [0, 1, 2], episodes=8, steps=12, words="--env x", **options)


def said(check: Check, what: str) -> str:
    finding = next(finding for finding in check.findings if finding.what == what)
    return f"{finding.mark}: {finding.found} / {finding.advice}"


def test_what_fits_says_how_far_goals_are() -> None:
    check = found(Corridor)
    assert check.fits and check.goals_seen == (3, 3) and not check.one_level
    assert "goals were seen" in said(check, "reach") and "in 3 of 3 levels" in said(check, "goals seen")
    assert check.next_command == "pixelplan collect --env x --levels 0:1000 --out runs/data"
    one_level = found(lambda: Corridor(one_level=True))
    assert one_level.one_level and "--levels 0:1 --episodes" in one_level.next_command


def test_what_deserves_a_warning_is_a_setting() -> None:
    strict = CheckConfig(still_growing=-1.0, idle=0.0, rewarded=-1.0, slow=0.0)
    check = check_env(open_family(Corridor), [0, 1, 2], config=strict)
    for what in ("states", "reach", "episodes", "speed"):
        assert said(found(Corridor), what).startswith("fits") and said(check, what).startswith("mind"), what


def test_a_clock_is_found_as_such() -> None:
    for world in (Timed, lambda: Timed(terminates=True)):  # an episode that ends stops the clock
        check = found(world)
        assert not check.fits and "rows 2–3" in said(check, "clock")


def test_a_score_is_found_as_such_and_a_memory_is_not() -> None:
    check = found(Scored)
    assert not check.fits and "rows 2–3" in said(check, "clock")
    assert "clock" not in [one.what for one in found(Remembering).findings]


class Racing(Timed):
    """A clock, and actions that stick by chance."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.chance = np.random.default_rng(seed)
        return super().reset(seed=0)

    def step(self, action: int) -> Any:
        return super().step(0 if self.chance.random() < 0.25 else action)


def test_chance_is_told_before_a_clock() -> None:
    assert "chance" in [one.what for one in found(Racing).findings if one.mark == "does not fit"]


class Told(Corridor):
    """Says in words what is wanted, and shows no goal."""

    goal_frame = None  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.mission = f"go to the {'left' if (seed or 0) % 2 else 'right'}"
        return super().reset(seed=seed)


def test_missions_in_words_are_told() -> None:
    check = found(Told)
    assert check.fits and "'go to the right', 'go to the left'" in said(check, "mission")
    assert "mission" not in [one.what for one in found(Corridor).findings]


def test_the_next_command_fits_what_play_sees_and_how_long_it_takes() -> None:
    assert "--levels 0:1000 --steps 100 --out" in found(Unsolvable).next_command
    slow = Sample(1, 0, 0, 0.0, False, 0.01, False, ())
    assert [levels_advised(slow, CheckConfig(minutes=most)) for most in (70.0, 14.0, 13.0)] == [1000, 200, 50]
    assert "--levels 0:50 --out" in found(Told, config=CheckConfig(minutes=0.0)).next_command


def test_chance_beside_np_random_is_found_as_such() -> None:
    check = found(Sticky)
    assert not check.fits and "sticky" in said(check, "chance")
    assert "does not start the same level" in said(found(Careless), "determinism")


def test_ends_and_rewards() -> None:
    short = found(Short)
    assert "does not fit: every episode ends with its first step" in said(short, "episodes")
    assert [one.what for one in short.findings if one.mark == "does not fit"] == ["episodes"]
    paying = found(Paying)
    assert "100% of steps" in said(paying, "episodes") and paying.fits
    assert 'no episode has ended, and there is no info["solved"]' in said(paying, "goals seen")
    assert "--goals random" in said(paying, "goals seen")


class Unsolvable(Corridor):
    """Says of every state that it is not solved, and shows no goal."""

    goal_frame = None  # type: ignore[assignment]

    def info(self) -> dict:
        return {"solved": False}


class Even(Paying):
    """Ends at the right end, with the reward that every step pays."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        frame, reward, *_, info = super().step(action)
        return frame, reward, self.place == CELLS - 1, False, info


class Tedious(Corridor):
    """Pays nothing and ends at the right end; it begins at the left one, and a step to the left leads back there."""

    goal_frame = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__(terminates=True)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.place = 0
        return self.draw(self.place), {}

    def moved(self, place: int, action: int) -> int:
        return place + 1 if action else 0


def test_an_end_that_only_exploring_sees_is_an_end() -> None:
    check = check_env(open_family(Tedious), [0, 1, 2], episodes=4, steps=6)
    assert "none of 3 random episodes ends by itself" in said(check, "episodes")
    assert "episodes end, but never with a reward above zero" in said(check, "goals seen")


class Beside(Even):
    """Begins next to the right end."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.place = CELLS - 2
        return self.draw(self.place), {}


class Nearing(Even):
    """Pays for every step to the right, and ends at the right end."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        before = self.place
        frame, _, over, _, info = super().step(action)
        return frame, float(self.place - before), over, False, info


def test_an_end_that_pays_as_much_as_any_step_marks_a_goal_if_not_all_do() -> None:
    level = open_family(Nearing).level(0)
    level.reset()
    for action in (1, 0, *[1] * CELLS):
        assert not level.succeeded
        level.step(action)
        if level.over:
            break
    assert level.over and level.succeeded


def test_what_every_step_pays_marks_no_goal(tmp_path: Path) -> None:
    """Not even if the first step ends the level, so that no other reward was before."""
    assert found(Beside).goals_seen == (0, 0)
    words = ["--env", "tests.test_check:Beside", "--levels", "0:3", "--out", tmp_path / "data"]
    assert "the goal was seen in 0 of 3 levels" in " ".join(run_command("collect", *words).stdout.split())


def test_goals_that_are_never_seen_say_why_and_what_to_run() -> None:
    check = found(Unsolvable)
    unsolvable = said(check, "goals seen")
    assert 'info["solved"] was never true' in unsolvable
    assert "and in 0 with 50 steps an episode" in unsolvable
    assert f"record longer episodes: {check.next_command}" in unsolvable
    even = said(found(Even), "goals seen")
    assert "never with a reward larger than those before" in even and 'set info["solved"]' in even


def test_collect_refuses_what_ends_at_once_and_says_what_is_missing(tmp_path: Path) -> None:
    words = ["collect", "--levels", "0:3", "--out", tmp_path / "data", "--env"]
    assert "ends with its first step" in one_sentence(run_command(*words, "tests.test_check:Short", code=2))
    assert not (tmp_path / "data").exists()
    told = run_command(*words, "tests.test_check:Unsolvable").stdout
    assert "the goal was seen in 0 of 3 levels; without one, a model plans to pictures only" in " ".join(told.split())


def test_slow_pictures_say_what_to_set() -> None:
    check = check_env(open_family(Tall), [0], episodes=1, steps=4)
    assert "tile_size=8" in said(check, "speed")


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("tests.test_check:vector", "the reward is 3 numbers"),
        ("tests.test_check:unpaid", "the reward is None, not a number; return 0.0"),
        ("tests.test_check:itemised", "the reward is a dict, not a number; return 0.0"),
        ("tests.test_check:undefined", "the reward is nan; it must be finite"),
        ("tests.test_check:Timed", "does not fit (clock)"),
        ("tests.test_check:Sticky", "does not fit (chance)"),
        ("tests.test_check:Short", "does not fit (episodes)"),
    ],
)
def test_from_the_command_line_it_is_a_sentence(env: str, what: str) -> None:
    quick = ["--levels", "0:2", "--episodes", "4", "--steps", "12"]
    done = run_command("check-env", "--env", env, *quick, code=2)
    assert what in done.stderr.strip().splitlines()[-1]


def test_the_last_line_is_the_next_command(tmp_path: Path) -> None:
    quick = ["--levels", "0:2", "--episodes", "4", "--steps", "12"]
    done = run_command("check-env", "--env", "tests.own_worlds:corridor", "--option", "one_level=False", *quick)
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("next: pixelplan collect --env tests.own_worlds:corridor --option one_level=False --levels")
    words = last.removeprefix("next: pixelplan ").split()
    words[words.index("0:1000")], words[words.index("runs/data")] = "0:3", str(tmp_path / "data")
    run_command(*words)


def test_ids_of_old_gym_say_so() -> None:
    gym = pytest.importorskip("gym")
    gym.envs.register(id="OldCorridor-v0", entry_point="tests.own_worlds:Corridor")
    refused = one_sentence(run_command("check-env", "--env", "OldCorridor-v0", code=2))
    assert "write gym:OldCorridor-v0" in refused


@pytest.mark.parametrize(
    ("env", "meant"),
    [
        ("CartPole-v99", "; Gymnasium has CartPole-v0 and CartPole-v1"),
        ("NoSuchWorld-v0", "; if a package has this id, name it: package:NoSuchWorld-v0"),
        ("nonsense", "or a Gymnasium id"),
    ],
)
def test_ids_that_are_unknown_say_what_may_be_meant(env: str, meant: str) -> None:
    assert one_sentence(run_command("check-env", "--env", env, code=2)).endswith(meant)


@pytest.mark.parametrize("function", ["made", "handed_on", "refusing"])
def test_functions_behind_ids_are_asked_for_pictures(function: str) -> None:
    gymnasium.register(f"tests/{function}-v0", entry_point=f"tests.test_check:{function}")
    for env in (f"tests/{function}-v0", f"tests.test_check:{function}"):
        assert open_family(env).shape == (32, 48, 3)


def test_pygame_is_told_that_there_is_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_NO_SIGNAL_HANDLERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    open_family("tests.own_worlds:corridor")
    assert os.environ["SDL_VIDEODRIVER"] == "dummy" and os.environ["SDL_NO_SIGNAL_HANDLERS"] == "1"


def made(render_mode: str | None = None) -> gymnasium.Env:
    from tests.own_worlds import Rendered

    return Rendered(render_mode=render_mode)


def handed_on(**options: Any) -> gymnasium.Env:
    return made(**options)


def refusing(**options: Any) -> gymnasium.Env:
    if options:
        raise TypeError(f"unexpected arguments {options}")
    return Corridor()
