"""check-env says what will happen: what fits, what does not and why, how far play comes, and what to run next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from pixelplan.by_name.resolve import open_family
from pixelplan.worlds.check_env import Check, check_env
from pixelplan.worlds.env_findings import CheckConfig, levels_advised
from pixelplan.worlds.measured_play import Sample
from tests.checked_worlds import (
    Beside,
    Careless,
    Even,
    Farther,
    Nearing,
    Paying,
    Racing,
    Remembering,
    Scored,
    Short,
    Sticky,
    Tall,
    Tedious,
    Timed,
    Told,
    Unseen,
    Unsolvable,
)
from tests.conftest import one_sentence, run_command
from tests.own_worlds import CELLS, Corridor


def checked(world: Any, **options: Any) -> Check:
    return check_env(open_family(world), [0, 1, 2], episodes=8, steps=12, words="--env x", **options)


def finding_of(check: Check, what: str) -> str:
    finding = next(finding for finding in check.findings if finding.what == what)
    return f"{finding.mark}: {finding.found} / {finding.advice}"


def test_what_fits_says_how_far_goals_are() -> None:
    check = checked(Corridor)
    assert check.fits and check.goals_seen == (3, 3) and not check.one_level
    assert "goals were seen" in finding_of(check, "reach") and "in 3 of 3 levels" in finding_of(check, "goals seen")
    assert check.next_command == "pixelplan collect --env x --levels 0:1000 --out runs/data"
    one_level = checked(lambda: Corridor(one_level=True))
    assert one_level.one_level and "--levels 0:1 --episodes" in one_level.next_command


def test_what_deserves_a_warning_is_a_setting() -> None:
    strict = CheckConfig(still_growing=-1.0, idle=0.0, rewarded=-1.0, slow=0.0)
    check = check_env(open_family(Corridor), [0, 1, 2], config=strict)
    for what in ("states", "reach", "episodes", "speed"):
        assert finding_of(checked(Corridor), what).startswith("fits") and finding_of(check, what).startswith("mind"), (
            what
        )


def test_a_clock_is_found_as_such() -> None:
    for world in (Timed, lambda: Timed(terminates=True)):  # an episode that ends stops the clock
        check = checked(world)
        assert not check.fits and "rows 2–3" in finding_of(check, "clock")


def test_a_score_is_found_as_such_and_a_memory_is_not() -> None:
    check = checked(Scored)
    assert not check.fits and "rows 2–3" in finding_of(check, "clock")
    assert "clock" not in [finding.what for finding in checked(Remembering).findings]


def test_chance_is_told_before_a_clock() -> None:
    assert "chance" in [finding.what for finding in checked(Racing).findings if finding.mark == "does not fit"]


def test_missions_in_words_are_told() -> None:
    check = checked(Told)
    assert check.fits and "'go to the right', 'go to the left'" in finding_of(check, "mission")
    assert "mission" not in [finding.what for finding in checked(Corridor).findings]


def test_the_next_command_fits_what_play_sees_and_how_long_it_takes() -> None:
    assert "--levels 0:1000 --steps 100 --out" in checked(Farther).next_command
    slow = Sample(1, 0, 0, 0.0, False, 0.01, False, ())
    assert [levels_advised(slow, CheckConfig(minutes=most)) for most in (70.0, 14.0, 13.0)] == [1000, 200, 50]
    assert "--levels 0:50 --out" in checked(Told, config=CheckConfig(minutes=0.0)).next_command


def test_chance_beside_np_random_is_found_as_such() -> None:
    check = checked(Sticky)
    assert not check.fits and "sticky" in finding_of(check, "chance")
    assert "does not start the same level" in finding_of(checked(Careless), "determinism")


def test_ends_and_rewards() -> None:
    short = checked(Short)
    assert "does not fit: every episode ends with its first step" in finding_of(short, "episodes")
    assert [finding.what for finding in short.findings if finding.mark == "does not fit"] == ["episodes"]
    paying = checked(Paying)
    assert "100% of steps" in finding_of(paying, "episodes") and paying.fits
    assert 'no episode has ended, and there is no info["solved"]' in finding_of(paying, "goals seen")
    assert "--goals random" in finding_of(paying, "goals seen")


def test_an_end_that_only_exploring_sees_is_an_end() -> None:
    check = check_env(open_family(Tedious), [0, 1, 2], episodes=4, steps=6)
    assert "none of 3 random episodes ends by itself" in finding_of(check, "episodes")
    assert "episodes end, but never with a reward above zero" in finding_of(check, "goals seen")


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
    assert checked(Beside).goals_seen == (0, 0)
    words = ["--env", "tests.checked_worlds:Beside", "--levels", "0:3", "--out", tmp_path / "data"]
    assert "the goal was seen in 0 of 3 levels" in " ".join(run_command("collect", *words).stdout.split())


def test_goals_that_are_never_seen_say_why_and_what_to_run() -> None:
    check = checked(Farther)
    unsolvable = finding_of(check, "goals seen")
    assert 'info["solved"] was never true' in unsolvable
    assert "and in 0 with 50 steps an episode" in unsolvable
    assert f"record longer episodes: {check.next_command}" in unsolvable
    check = checked(Unsolvable)
    everywhere = finding_of(check, "goals seen")
    assert (
        "although every action was tried in every state" in everywhere and "longer play will see no more" in everywhere
    )
    assert 'set info["solved"]' in everywhere and "--steps" not in check.next_command
    even = finding_of(checked(Even), "goals seen")
    assert "never with a reward larger than those before" in even and 'set info["solved"]' in even


def test_ends_that_frames_do_not_show_are_said_to_be_that() -> None:
    unseen = finding_of(checked(Unseen), "whole state")
    assert "frames do not show that an episode has ended" in unseen and "draw the end into the frame" in unseen
    assert not checked(Unseen).fits
    hidden = finding_of(checked("tests.own_worlds:secret"), "whole state")
    assert "led to different frames" in hidden, "what is hidden there has nothing to do with ends"


def test_collect_refuses_what_ends_at_once_and_says_what_is_missing(tmp_path: Path) -> None:
    words = ["collect", "--levels", "0:3", "--out", tmp_path / "data", "--env"]
    assert "ends with its first step" in one_sentence(run_command(*words, "tests.checked_worlds:Short", code=2))
    assert not (tmp_path / "data").exists()
    output = " ".join(run_command(*words, "tests.checked_worlds:Unsolvable").stdout.split())
    assert "the goal was seen in 0 of 3 levels; without one, a model plans to pictures only: every action was" in output
    words[4] = tmp_path / "other"
    output = " ".join(run_command(*words, "tests.checked_worlds:Farther").stdout.split())
    assert "without one, a model plans to pictures only: try longer episodes" in output


def test_it_says_how_far_it_is() -> None:
    """Where drawing is slow, a check takes minutes."""
    moved: list[tuple[int, int]] = []
    checked(Farther, progress=lambda done, total: moved.append((done, total)))
    assert moved == [(done, 9) for done in range(1, 10)]


def test_slow_pictures_say_what_to_set() -> None:
    check = check_env(open_family(Tall), [0], episodes=1, steps=4)
    assert "tile_size=8" in finding_of(check, "speed")


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("tests.checked_worlds:vector", "the reward is 3 numbers"),
        ("tests.checked_worlds:unpaid", "the reward is None, not a number; return 0.0"),
        ("tests.checked_worlds:itemised", "the reward is a dict, not a number; return 0.0"),
        ("tests.checked_worlds:undefined", "the reward is nan; it must be finite"),
        ("tests.checked_worlds:Timed", "does not fit (clock)"),
        ("tests.checked_worlds:Sticky", "does not fit (chance)"),
        ("tests.checked_worlds:Short", "does not fit (episodes)"),
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
    gymnasium.register(f"tests/{function}-v0", entry_point=f"tests.checked_worlds:{function}")
    for env in (f"tests/{function}-v0", f"tests.checked_worlds:{function}"):
        assert open_family(env).shape == (32, 48, 3)


def test_pygame_is_told_that_there_is_no_window(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "SDL_NO_SIGNAL_HANDLERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    open_family("tests.own_worlds:corridor")
    assert os.environ["SDL_VIDEODRIVER"] == "dummy" and os.environ["SDL_NO_SIGNAL_HANDLERS"] == "1"
