"""What the baselines share: the judge, random actions, GS on Images, checkpoints, and what a missing extra says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from pixelplan.baselines.judge import evaluate_policy, shows_place_near_goal
from pixelplan.baselines.policy import Budget
from pixelplan.baselines.random_policy import RandomPolicy
from pixelplan.baselines.run_folder import begin_run, load_run, save_run
from pixelplan.cli import main
from pixelplan.model.checkpoint import read_checkpoint_note
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command

NOTHING = Budget(0, 0, 0.0)


class Follows:
    """A policy that takes given actions and then waits."""

    def __init__(self, actions: tuple[int, ...]) -> None:
        self._actions = actions

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        self._left = list(self._actions)

    def act(self, frame: np.ndarray) -> int:
        return self._left.pop(0) if self._left else 4


def test_the_judge_counts_the_goal_and_the_shortest_way(name: str) -> None:
    puzzle = make_puzzle(name)
    way = get_level(puzzle, 1000).shortest_path(get_level(puzzle, 1000).start)
    assert way
    solved = evaluate_policy(Follows(way), puzzle, "1000:1001", request={"env": name}, budget=NOTHING)
    assert (solved["success"], solved["optimal"], solved["episodes"][0]["steps"]) == (1.0, 1.0, len(way))
    short = evaluate_policy(Follows(way[:-1]), puzzle, "1000:1001", request={}, budget=NOTHING, step_limit=300)
    assert short["success"] == 0 and short["episodes"][0]["steps"] == 300 and short["episodes"][0]["ended"] == "steps"
    late = evaluate_policy(Follows(way), puzzle, "1000:1001", request={}, budget=NOTHING, step_limit=len(way) - 1)
    assert late["success"] == 0


def test_near_the_goal_is_one_row_and_one_column() -> None:
    level = get_level(make_puzzle("ice-slider"), 1000)
    for state, place in enumerate(level.positions):
        near = np.abs(place - level.positions[level.goal]).max() <= 1
        assert shows_place_near_goal(level, level.frame(state)) == near


def test_the_forgiving_rule_looks_at_the_last_frame_only() -> None:
    puzzle = make_puzzle("digit-jump", size=4)
    for number in range(1000, 1100):
        level = get_level(puzzle, number)
        way = level.shortest_path(level.start)
        state = level.start
        for action in way[:-1]:
            state = level.successors[state, action]
        if len(way) > 2 and np.abs(level.positions[state] - level.positions[level.goal]).max() <= 1:
            break
    words = {"request": {}, "budget": NOTHING, "rule": "near", "step_limit": 20}
    near = evaluate_policy(Follows(way[:-1]), puzzle, f"{number}:{number + 1}", **words)
    assert near["success"] == 1 and near["success_by_rule"] == {"goal": 0.0, "near": 1.0}
    assert "one row and one column" in near["rule"]
    far = evaluate_policy(Follows(()), puzzle, f"{number}:{number + 1}", **words)
    assert far["success"] == 0


def test_chance_depends_on_seed_and_level_only() -> None:
    puzzle = make_puzzle("digit-jump", size=4)
    words = {"request": {}, "budget": NOTHING, "step_limit": 50}
    both = evaluate_policy(RandomPolicy(), puzzle, "1000:1004", **words)
    last = evaluate_policy(RandomPolicy(), puzzle, "1002:1004", **words)
    strip = [(episode["level"], episode["steps"], episode["solved"]) for episode in both["episodes"]]
    assert strip[2:] == [(episode["level"], episode["steps"], episode["solved"]) for episode in last["episodes"]]
    other = evaluate_policy(RandomPolicy(), puzzle, "1000:1004", seed=1, **words)
    assert strip != [(episode["level"], episode["steps"], episode["solved"]) for episode in other["episodes"]]


@pytest.mark.parametrize("baseline", ["random", "image-search"])
def test_what_learns_nothing_runs_from_the_command_line(baseline: str, tmp_path: Path) -> None:
    record = tmp_path / "new" / "record.json"
    words = ("baseline", baseline, "--env", "digit-jump", "--levels", "1000:1005", "--step-limit", "40")
    output = run_command(*words, "--json", record).stdout
    recorded = json.loads(record.read_text())
    assert f"digit-jump, {baseline}: solved" in output and recorded["planner"] == baseline
    assert recorded["budget"]["environment_steps"] == 0 and len(recorded["episodes"]) == 5
    assert {"interval", "optimal", "machine", "version", "seed", "step_limit"} <= set(recorded)
    printed = json.loads(run_command(*words, "--json", "-").stdout)
    assert printed["success"] == recorded["success"]


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["baseline", "glamor", "--env", "digit-jump", "--out", str(tmp_path / "run"), "--steps", "10"]
    assert "overlap" in one_sentence(run_command(*words, "--levels", "900:1100", code=2))
    for wrong, sentence in (
        (["--train-levels", "0:5,7"], "one range"),
        (["--steps", "0"], "at least 1"),
        (["--step-limit", "0"], "at least 1"),
        (["--env", "chess"], "the puzzles are"),
        (["--json", str(tmp_path)], "is a folder"),
    ):
        assert main([*words, *wrong]) == 2
        output = capsys.readouterr().err
        assert sentence in output and output.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("baseline", "module", "extra"), [("ppo", "stable_baselines3", "baselines"), ("dreamer", "sheeprl", "dreamer")]
)
def test_a_missing_extra_is_named(
    baseline: str,
    module: str,
    extra: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    words = ["baseline", baseline, "--env", "ice-slider", "--steps", "10", "--out", str(tmp_path / "run")]
    assert main(words) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and f"pip install 'pixelplan[{extra}]'" in output
    assert not (tmp_path / "run").exists()


def test_checkpoints_hold_network_optimizer_and_note(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.1)
    network(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    save_run(tmp_path, network, optimizer, {"steps": 7, "request": {"seed": 0}}, {"levels": torch.arange(3)})
    fresh = torch.nn.Linear(3, 2)
    new = torch.optim.AdamW(fresh.parameters(), lr=0.1)
    more = load_run(tmp_path, fresh, new)
    assert torch.equal(fresh.weight, network.weight) and more["levels"].tolist() == [0, 1, 2]
    assert torch.equal(new.state_dict()["state"][0]["exp_avg"], optimizer.state_dict()["state"][0]["exp_avg"])
    assert read_checkpoint_note(tmp_path) == {"steps": 7, "request": {"seed": 0}}
    assert begin_run(tmp_path, {"seed": 0}, resume=True) is not None
    with pytest.raises(InputError, match="seed 0, not 1"):
        begin_run(tmp_path, {"seed": 1}, resume=True)
    with pytest.raises(InputError, match="another network"):
        load_run(tmp_path, torch.nn.Linear(4, 2))
    (tmp_path / "checkpoint.safetensors").write_bytes(b"broken")
    with pytest.raises(InputError, match="damaged"):
        read_checkpoint_note(tmp_path)
