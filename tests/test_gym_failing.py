"""Environments that fail: one sentence that names environment, level, step and exception, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pixelplan
from pixelplan.by_name.resolve import open_family
from pixelplan.envs.guard import EnvironmentFailed
from pixelplan.files import read_json
from tests.conftest import one_sentence, run_command
from tests.own_worlds import Corridor

ENV = "tests.test_gym_failing:failing"


class Failing(Corridor):
    """Fails from level 3 on, after two steps, in the way that is asked for."""

    def __init__(self, way: str = "raise") -> None:
        super().__init__()
        self.way = way

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:  # type: ignore[type-arg]
        self.number, self.steps = seed or 0, 0
        return super().reset(seed=seed)

    def step(self, action: int) -> tuple:  # type: ignore[type-arg]
        good = super().step(action)
        self.steps += 1
        if self.number < 3 or self.steps < 3:
            return good
        if self.way == "raise":
            raise RuntimeError("the robot is\non fire")
        if self.way == "exit":
            raise SystemExit(0)
        if self.way == "hang":
            while True:
                pass
        return {"four": good[:4], "no info": (*good[:4], None), "no reward": (good[0], None, *good[2:])}[self.way]


failing = Failing
WAYS = {
    "raise": "RuntimeError: the robot is on fire",
    "exit": "SystemExit: 0",
    "hang": "took more than 0.2 s in step 3 of level 3; --step-seconds",
    "four": "step() gave 4 values, not observation, reward, terminated, truncated, info",
    "no info": "the info of step() is a NoneType, not a dict",
    "no reward": "the reward is None, not a number",
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_named_and_what_was_collected_stays(way: str, tmp_path: Path) -> None:
    words = ["--env", ENV, "--option", f"way={way}", "--step-seconds", "0.2"]
    output = run_command("check-env", *words, "--levels", "3:4", code=2).stderr
    assert ENV in output and WAYS[way] in output and "step 3 of level 3" in output
    done = run_command("collect", *words, "--levels", "0:5", "--out", tmp_path / "data", code=2)
    assert WAYS[way] in done.stderr.splitlines()[-1] and "Traceback" not in done.stderr
    noted = (tmp_path / "data" / "unfinished.jsonl").read_text()
    assert '"levels_done": 3' in noted, "levels 0 to 2 stay"


def test_an_evaluation_in_which_levels_failed_is_recorded_and_fails(tmp_path: Path) -> None:
    out = tmp_path / "record.json"
    words = ["evaluate", "--env", ENV, "--planner", "image-search", "--levels", "0:5", "--json", out]
    done = run_command(*words, code=2)
    assert "2 levels raised an exception, first level 3: " in done.stderr and "RuntimeError" in done.stderr
    episodes = read_json(out)["episodes"]
    assert [episode.get("error") is None for episode in episodes] == [True, True, True, False, False]


def test_verbose_shows_the_traceback() -> None:
    words = ["solve", "--env", ENV, "--level", "3", "--planner", "image-search"]
    one_sentence(run_command(*words, code=2))
    shown = run_command(*words, "--verbose", code=2).stderr
    assert "Traceback" in shown and 'raise RuntimeError("the robot is' in shown


def test_an_environment_made_in_python_is_guarded_too(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match="Failing failed in step 3 of level 3"):
        pixelplan.collect(Failing(), "3:4", tmp_path / "data")
    with pytest.raises(pixelplan.InputError, match="step-seconds is 0"):
        open_family(ENV, step_seconds=0)


def test_the_clock_does_not_kill_a_process_that_takes_long_to_end() -> None:
    """Ticks come every second; deleting things when the interpreter ends takes longer than that."""
    code = (
        "import time\nfrom pixelplan.envs.guard import guarded\n"
        "class Slow:\n    def __del__(self, sleep=time.sleep):\n        sleep(1.5)\n"
        "slow = Slow()\nwith guarded('world', 'step 1', 4):\n    pass\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=300).returncode == 0
