"""PPO: our games as stable-baselines3 sees them, a short run, resuming, and that it learns."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch

from pixelplan.baselines import need_extra
from pixelplan.baselines.judge import evaluate_policy
from pixelplan.baselines.policy import Budget
from pixelplan.baselines.random_policy import RandomPolicy
from pixelplan.cli import main
from pixelplan.model.checkpoint import read_tensors
from pixelplan.puzzles import PUZZLES, PlayOptions, PuzzleEnv, PuzzleVectorEnv, make_puzzle
from tests.conftest import run_command

pytest.importorskip("stable_baselines3", reason="needs the extra 'baselines'")
need_extra("stable_baselines3", "baselines", "PPO")  # quietly, before the next import

from pixelplan.baselines.ppo import ROLLOUT_STEPS, PpoConfig, train_ppo  # noqa: E402
from pixelplan.baselines.ppo_adapters import CellFeatures, VecGames  # noqa: E402

TINY = PpoConfig(games=4, rollout_steps=8, minibatches=2)


def test_the_adapter_reports_every_game_as_single_environments_do() -> None:
    puzzle, play = make_puzzle("digit-jump", size=4), PlayOptions(levels=(0, 20), max_episode_steps=6)
    games = VecGames(PuzzleVectorEnv(puzzle, 5, play, autoreset_mode="SameStep"))
    assert games.seed(3) == [3, 4, 5, 6, 7]
    frames = games.reset()
    singles = [PuzzleEnv(puzzle, play) for _ in range(5)]
    for game, env in enumerate(singles):
        assert np.array_equal(frames[game], env.reset(seed=3 + game)[0])
    random, won, cut = np.random.default_rng(0), 0, 0
    for _ in range(60):
        actions = random.integers(5, size=5)
        frames, rewards, over, infos = games.step(actions)
        assert rewards.dtype == np.float32
        for game, env in enumerate(singles):
            frame, reward, terminated, truncated, _ = env.step(int(actions[game]))
            assert (rewards[game], over[game]) == (reward, terminated or truncated)
            if over[game]:
                assert np.array_equal(infos[game]["terminal_observation"], frame)
                assert "TimeLimit.truncated" not in infos[game]  # else stuck games keep their value
                won, cut = won + terminated, cut + truncated
                frame, _ = env.reset()  # in the same step
            else:
                assert "terminal_observation" not in infos[game]
            assert np.array_equal(frames[game], frame)
    assert won and cut, "neither kind of end occurred"


def test_the_last_step_may_win() -> None:
    puzzle = make_puzzle("digit-jump", size=4)
    env = PuzzleEnv(puzzle, PlayOptions(level=0))
    env.reset()
    way = env.shortest_solution()
    assert way
    play = PlayOptions(level=0, max_episode_steps=len(way))
    games = VecGames(PuzzleVectorEnv(puzzle, 1, play, autoreset_mode="SameStep"))
    games.reset()
    for action in way:
        _, rewards, over, infos = games.step(np.array([action]))
    assert over[0] and rewards[0] == 10
    assert np.array_equal(infos[0]["terminal_observation"], env.goal_frame())


def test_there_is_a_rollout_length_for_every_puzzle() -> None:
    assert set(ROLLOUT_STEPS) == set(PUZZLES)


def test_a_run_continues_where_it_was_stopped(tmp_path: Path) -> None:
    puzzle = make_puzzle("digit-jump", size=4)
    _, first = train_ppo(puzzle, "digit-jump", (0, 20), 64, tmp_path, config=TINY)
    assert (first.environment_steps, first.updates) == (64, 12)  # two rollouts of 32, 3 epochs of 2 minibatches each
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    _, same = train_ppo(puzzle, "digit-jump", (0, 20), 64, tmp_path, config=TINY, resume=True)
    assert same == first and (tmp_path / "checkpoint.safetensors").read_bytes() == before
    _, cut = train_ppo(puzzle, "digit-jump", (0, 20), 10**9, tmp_path, config=TINY, resume=True, seconds=0.2)
    assert 64 < cut.environment_steps < 10**9 and cut.environment_steps % 32 == 0 and cut.seconds >= first.seconds
    _, more = train_ppo(puzzle, "digit-jump", (0, 20), cut.environment_steps + 32, tmp_path, config=TINY, resume=True)
    assert more.environment_steps == cut.environment_steps + 32 and more.updates == cut.updates + 6
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert more.curve == tuple((line["steps"], round(line["mean_return"] / 10, 3)) for line in lines)
    assert [line["steps"] for line in lines] == sorted(line["steps"] for line in lines)


def test_a_resumed_run_ends_like_an_uninterrupted_one(tmp_path: Path) -> None:
    puzzle = make_puzzle("digit-jump", size=4)
    train_ppo(puzzle, "digit-jump", (0, 20), 160, tmp_path / "whole", config=TINY, seed=5)
    for steps in (64, 96, 160):
        train_ppo(puzzle, "digit-jump", (0, 20), steps, tmp_path / "cut", config=TINY, seed=5, resume=True)
    (whole, noted), (cut, noted_too) = (
        read_tensors(tmp_path / name / "checkpoint.safetensors") for name in ("whole", "cut")
    )
    assert whole.keys() == cut.keys() and all(torch.equal(whole[name], cut[name]) for name in whole)
    assert noted["state"] == noted_too["state"] and noted["updates"] == noted_too["updates"]


def test_the_command_trains_plays_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, record = tmp_path / "run", tmp_path / "records" / "ppo.json"
    words = ("baseline", "ppo", "--env", "digit-jump", "--option", "size=4", "--out", run, "--games", "4")
    words = (*words, "--rollout-steps", "8", "--levels", "1000:1003", "--step-limit", "9", "--json", record)
    output = run_command(*words, "--steps", "64").stdout
    recorded = json.loads(record.read_text())
    assert "after 64 of 64 steps" in output and recorded["budget"]["environment_steps"] == 64
    assert (recorded["env"], recorded["planner"], recorded["levels"], recorded["step_limit"]) == (
        "digit-jump",
        "ppo",
        [1000, 1003],
        9,
    )
    assert recorded["rule"] == "the goal is reached" and recorded["train_levels"] == [0, 1000]
    assert recorded["budget"]["machine"]["cores"] and [episode["level"] for episode in recorded["episodes"]] == [
        1000,
        1001,
        1002,
    ]
    again = [str(word) for word in (*words, "--steps", "96")]
    assert main(again) == 2 and "add --resume" in capsys.readouterr().err
    assert main([*again, "--resume", "--seed", "1"]) == 2 and "seed 0, not 1" in capsys.readouterr().err
    run_command(*words, "--steps", "96", "--resume")
    assert json.loads(record.read_text())["budget"]["environment_steps"] == 96


def test_procgens_network_trains_too(tmp_path: Path) -> None:
    puzzle = make_puzzle("digit-jump", size=4, pixels=40)
    config = PpoConfig(games=2, rollout_steps=4, minibatches=2, network="impala")
    policy, budget = train_ppo(puzzle, "digit-jump", (0, 5), 8, tmp_path, config=config)
    record = evaluate_policy(policy, puzzle, "5:7", request={}, budget=budget, step_limit=3)
    again = evaluate_policy(policy, puzzle, "5:7", request={}, budget=budget, step_limit=3)
    assert [episode["steps"] for episode in record["episodes"]] == [episode["steps"] for episode in again["episodes"]]


@pytest.mark.parametrize("name", PUZZLES)
def test_a_cell_is_a_stride(name: str) -> None:
    puzzle = make_puzzle(name)
    space = gymnasium.spaces.Box(0, 1, (3, puzzle.pixels, puzzle.pixels))
    features = CellFeatures(space, getattr(puzzle, "size", 15))
    assert features(torch.zeros(2, 3, puzzle.pixels, puzzle.pixels)).shape == (2, 256)
    first = features.layers[0](torch.zeros(1, 3, puzzle.pixels, puzzle.pixels))
    assert first.shape[-1] == {"ice-slider": 8, "digit-jump": 8, "procgen-maze": 15}[name]


@pytest.mark.slow
def test_it_learns(tmp_path: Path) -> None:
    """Minutes on one core: soon far better than random, and the default network is no worse than NatureCNN."""
    puzzle = make_puzzle("digit-jump", size=4)
    torch.set_num_threads(1)
    records = {}
    for network in ("cells", "nature"):
        config = PpoConfig(rollout_steps=32, network=network)  # type: ignore[arg-type]
        policy, budget = train_ppo(puzzle, "digit-jump", (0, 1000), 20_000, tmp_path / network, config=config)
        record = evaluate_policy(policy, puzzle, "1000:1100", request={}, budget=budget, step_limit=10)
        records[network] = record
    learnt = records["cells"]
    assert learnt["success"] >= records["nature"]["interval"][0], (learnt["success"], records["nature"]["success"])
    floor = evaluate_policy(RandomPolicy(), puzzle, "1000:1100", request={}, budget=Budget(0, 0, 0.0), step_limit=10)
    assert learnt["interval"][0] > floor["interval"][1], (learnt["success"], floor["success"])
