"""DreamerV2 through sheeprl, if that is installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from pixelplan.baselines.dreamer import make_game
from tests.conftest import one_sentence, run_command

installed = importlib.util.find_spec("sheeprl") is not None
extras = pytest.mark.extras if installed else pytest.mark.skip(reason="needs the extra 'dreamer'")


def test_its_games_play_the_training_levels_and_are_cut() -> None:
    game = make_game("pixelplan/DigitJump-v0", "rgb_array", "digit-jump", 3, 5, size=4)
    assert {game.reset(seed=seed)[1]["level"] for seed in range(20)} == {3, 4}
    assert game.play.max_episode_steps == 64 and game.puzzle.size == 4


@extras
def test_it_trains_plays_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = tmp_path / "dreamer.json"
    monkeypatch.chdir(tmp_path)  # users mostly name folders relative to their own
    words = ("baseline", "dreamer", "--env", "digit-jump", "--out", "run", "--learning-starts", "100")
    words = (*words, "--pretrain-steps", "1", "--checkpoint-every", "20", "--replay-ratio", "0.02")
    words = (*words, "--levels", "1000:1002", "--step-limit", "5", "--json", record)
    run_command(*words, "--steps", "120")
    recorded = json.loads(record.read_text())
    assert recorded["budget"]["environment_steps"] == 120 and recorded["budget"]["updates"] > 0
    run_command(*words, "--steps", "160", "--resume")
    assert json.loads(record.read_text())["budget"]["environment_steps"] == 160
    (tmp_path / "run").rename(tmp_path / "moved")
    words = tuple("moved" if word == "run" else word for word in words)
    assert "was moved" in one_sentence(run_command(*words, "--steps", "200", "--resume", code=2))
