"""GLAMOR: its network, its planning, a short run, resuming, and that it learns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pixelplan.baselines import glamor as glamor_module
from pixelplan.baselines.glamor import Trainer, play_try, train_glamor
from pixelplan.baselines.glamor_network import END, Decoder, GlamorConfig, GlamorNetwork, plan
from pixelplan.baselines.judge import evaluate_policy
from pixelplan.baselines.policy import Budget
from pixelplan.baselines.random_policy import RandomPolicy
from pixelplan.model.checkpoint import read_tensors
from pixelplan.puzzles import PlayOptions, PuzzleEnv, make_puzzle
from tests.conftest import run_command

TINY = GlamorConfig(horizon=6, batch=8, episodes_per_batch=2, samples=5)


def small() -> object:
    return make_puzzle("digit-jump", size=4, pixels=16)


def test_the_decoder_is_an_lstm_fed_features_and_the_previous_action() -> None:
    torch.manual_seed(0)
    decoder, known, actions = Decoder(512), torch.randn(2, 512), torch.tensor([[3, 1, 4], [0, 0, 2]])
    with torch.no_grad():
        predicted = decoder(known, actions)
        hidden, cell = decoder.begin(known).chunk(2, dim=-1)
        for step in range(4):
            previous = actions[:, step - 1] if step else torch.tensor([END, END])
            hidden, cell = decoder.lstm(decoder.known(known) + decoder.previous(previous), (hidden, cell))
            assert torch.allclose(predicted[:, step], decoder.out(hidden).log_softmax(dim=-1), atol=1e-5)


@pytest.mark.parametrize("subtract_prior", [False, True])
def test_plans_are_actions_within_the_horizon_and_follow_the_generator(subtract_prior: bool) -> None:
    torch.manual_seed(0)
    network = GlamorNetwork(16).eval()
    config = GlamorConfig(horizon=6, samples=20, subtract_prior=subtract_prior)
    start, goal = torch.randn(1, 512), torch.randn(1, 512)
    plans = [plan(network, start, goal, config, np.random.default_rng(seed)) for seed in (1, 1, 2, 3)]
    assert plans[0] == plans[1]
    assert all(1 <= len(plan) <= 6 and set(plan) <= set(range(END)) for plan in plans)


def test_segments_lead_from_their_start_to_their_goal() -> None:
    puzzle = small()
    trainer = Trainer(puzzle, (0, 5), TINY, 0, None)
    for _ in range(4):
        trainer.collect(10**6)
    frames, start, goal, actions, targets = trainer._batch()
    env = PuzzleEnv(puzzle)
    for row in range(TINY.batch):
        length = int((targets[row] == END).nonzero()[0])
        assert targets[row, :length].tolist() == actions[row, :length].tolist()
        assert (targets[row, length + 1 :] == -100).all()
        reached = []
        for level in range(5):  # play the actions from wherever the start frame is found
            env.reset(options={"level": level})
            table = env._level
            for state in range(len(table.successors)):
                if np.array_equal(table.frame(state), frames[start[row]]):
                    for action in actions[row, :length]:
                        state = table.successors[state, action]
                    reached.append(np.array_equal(table.frame(int(state)), frames[goal[row]]))
        assert any(reached)


def test_a_try_keeps_distinct_frames_and_ends_on_the_goal() -> None:
    env = PuzzleEnv(small(), PlayOptions())
    env.reset(options={"level": 0})
    way = env.shortest_solution()
    assert way
    attempt = play_try(env, 0, lambda step: (4, 4, *way)[step], 50)
    assert attempt.actions.tolist() == [4, 4, *way] and attempt.seen[:3].tolist() == [0, 0, 0]
    assert len(attempt.frames) == len(np.unique(attempt.frames, axis=0)) and np.array_equal(
        attempt.frames[-1], env.goal_frame()
    )


def test_a_run_continues_where_it_was_stopped(tmp_path: Path) -> None:
    puzzle = small()
    _, first = train_glamor(puzzle, "digit-jump", (0, 9), 40, tmp_path, config=TINY)
    assert first.environment_steps >= 40 and first.updates == -(-4 * first.environment_steps // 8)
    _, same = train_glamor(puzzle, "digit-jump", (0, 9), 40, tmp_path, config=TINY, resume=True)
    assert same == first
    _, more = train_glamor(puzzle, "digit-jump", (0, 9), 80, tmp_path, config=TINY, resume=True)
    assert more.environment_steps >= 80 and more.updates == -(-4 * more.environment_steps // 8)
    restored = Trainer(puzzle, (0, 9), TINY, 0, None)
    from pixelplan.baselines.glamor import _replay
    from pixelplan.baselines.run_folder import load_run

    _replay(restored, load_run(tmp_path, restored.network, restored.optimizer))
    assert sum(len(attempt.actions) for attempt in restored.tries) == more.environment_steps


def test_a_resumed_run_ends_like_an_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_glamor(small(), "digit-jump", (0, 9), 80, tmp_path / "whole", config=TINY)

    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > 40:
            raise Stop

    with monkeypatch.context() as patch, pytest.raises(Stop):
        patch.setattr(glamor_module, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        train_glamor(small(), "digit-jump", (0, 9), 80, tmp_path / "cut", config=TINY, progress=stop)
    train_glamor(small(), "digit-jump", (0, 9), 80, tmp_path / "cut", config=TINY, resume=True)
    (whole, noted), (cut, noted_too) = (
        read_tensors(tmp_path / name / "checkpoint.safetensors") for name in ("whole", "cut")
    )
    assert whole.keys() == cut.keys() and all(torch.equal(whole[name], cut[name]) for name in whole)
    assert noted["random"] == noted_too["random"]


def test_the_command_names_its_rule(tmp_path: Path) -> None:
    record = tmp_path / "glamor.json"
    run_command(
        *("baseline", "glamor", "--env", "digit-jump", "--option", "size=4", "pixels=16", "--out", tmp_path / "run"),
        *("--steps", "60", "--horizon", "10", "--samples", "5", "--levels", "1000:1004", "--step-limit", "10"),
        *("--rule", "near", "--json", record),
    )
    recorded = json.loads(record.read_text())
    assert "one row and one column" in recorded["rule"] and recorded["success"] == recorded["success_by_rule"]["near"]
    assert recorded["success_by_rule"]["near"] >= recorded["success_by_rule"]["goal"]
    assert recorded["budget"]["environment_steps"] >= 60 and recorded["planner"] == "glamor"


@pytest.mark.slow
def test_it_learns(tmp_path: Path) -> None:
    """A few minutes on one core. Plain colours instead of digits leave the moves as the only thing to learn."""
    puzzle = make_puzzle("digit-jump", size=4, pixels=16, look="colours")
    torch.set_num_threads(1)
    config = GlamorConfig(horizon=12, replay_ratio=32, warm_up=0.5)
    policy, budget = train_glamor(puzzle, "digit-jump", (0, 1000), 8000, tmp_path, config=config)
    learnt = evaluate_policy(policy, puzzle, "1000:2000", request={}, budget=budget, step_limit=10)
    floor = evaluate_policy(RandomPolicy(), puzzle, "1000:2000", request={}, budget=Budget(0, 0, 0.0), step_limit=10)
    assert learnt["interval"][0] > floor["interval"][1], (learnt["success"], floor["success"])
