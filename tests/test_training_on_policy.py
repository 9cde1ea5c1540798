"""Training that learns from the planner's own play."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import pixelplan
from pixelplan.by_name.resolve import open_family
from pixelplan.data.dataset import open_trajectories
from pixelplan.families.grid import sizes_of
from pixelplan.families.presets import PRESETS
from pixelplan.model.world_model import WorldModel
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.training.on_policy import PLANNER, collect_with_planner, on_policy_stages, open_worlds
from pixelplan.training.player import Player
from pixelplan.types import InputError, Trajectories
from tests.conftest import one_sentence, run_command
from tests.test_explore import CELLS, DOOR, long_corridor

PUZZLE = make_puzzle("digit-jump", size=4, pixels=16, look="colours")
LEVELS = "0:12"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A little random play of a small puzzle."""
    folder = tmp_path_factory.mktemp("improve") / "data"
    pixelplan.collect(PUZZLE, LEVELS, folder, episodes=2, steps=8)
    return folder


@pytest.fixture(scope="module")
def improved(data: Path) -> Path:
    """A model trained on it and on the planner's play, by the command."""
    out = data.parent / "improved"
    run_command(*words(data, out))
    return out


def words(data: Path, out: Path) -> list[str]:
    """The command, at a tiny budget."""
    train = ["train", "--data", data, "--out", out, "--preset", "tiny", "--threads", "1", "--updates", "300"]
    return [
        str(word) for word in (*train, "--on-policy", "2", "--on-policy-episodes", "3", "--on-policy-share", "0.67")
    ]


def test_the_planner_plays_to_the_goal_and_on() -> None:
    world, goal = open_worlds(open_family(PUZZLE))(3)
    level = get_level(PUZZLE, 3)
    seen = level.frames(np.flatnonzero(level.reachable(level.start)))
    player = Player(Oracle(level), world, goal, seen, PLANNER, np.random.default_rng(0))
    frames, actions, _ = player.play(40)
    assert frames.shape == (41, 16, 16, 3) and actions.shape == (40,) and actions.dtype == np.uint8
    solution = level.shortest_path(level.start)
    assert solution is not None and np.array_equal(frames[len(solution)], level.frame(level.goal))
    state = level.start
    for action, frame in zip(actions, frames[1:], strict=True):
        state = int(level.successors[state, action])
        assert np.array_equal(frame, level.frame(state)), "what is recorded is what happened"
    places = {frame.tobytes() for frame in frames}
    assert len(places) > len(solution) + 1, "it goes on to other places"


def test_recorded_play_stays_and_grows(data: Path, tmp_path: Path) -> None:
    before = open_trajectories(data)
    after = collect(before, tmp_path / "more")
    again = collect(before, tmp_path / "again")
    assert after.manifest["sha256"] == again.manifest["sha256"]
    assert after.manifest["episodes"] == 5 and len(after.episodes) == 12 * 5
    assert open_trajectories(tmp_path / "more").actions.shape == (60, 8)
    for number in range(12):
        rows, old = np.flatnonzero(after.episode_level == number), np.flatnonzero(before.episode_level == number)
        assert np.array_equal(after.actions[rows[:2]], before.actions[old])
        assert np.array_equal(after.frames[after.episodes[rows[:2]]], before.frames[before.episodes[old]])
        frames = after.frames[after.frame_level == number]
        assert len({frame.tobytes() for frame in frames}) == len(frames)
    with pytest.raises(InputError, match="cannot be resumed"):
        collect(before, tmp_path / "more", episodes=4)


def collect(data: Trajectories, out: Path, episodes: int = 3) -> Trajectories:
    """More play, with a model that knows nothing: the planner must cope with whatever it predicts."""
    torch.manual_seed(0)
    model = WorldModel(PRESETS["tiny"].model, sizes_of(data), threshold=0.5)
    return collect_with_planner(
        data, out, model, open_worlds(open_family(PUZZLE)), episodes=episodes, seed=(1,), resume=True
    )


class LongCorridorModel:
    """The corridor of sixty cells as a model may have learned it, with the door or without.

    An embedding is a bit for each place and one for the open door.
    """

    threshold, noisy = 0.5, False

    def __init__(self, knows_door: bool, knows_end: bool) -> None:
        self.knows_door = knows_door
        self.goal_test = self.is_not_the_end if knows_end else None

    def is_not_the_end(self, z: torch.Tensor) -> torch.Tensor:
        return (z[:, :CELLS].argmax(1) != CELLS - 1).float() * 2

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        pixels = frames.shape[2] // CELLS  # of a cell: small frames are made larger
        frames = frames[:, ::pixels, ::pixels]
        places = (frames[:, 3, :, 0] == 255).argmax(1)
        return self.embedding(torch.from_numpy(places), torch.from_numpy(frames[:, 0, DOOR, 1] == 200))

    def embedding(self, place: torch.Tensor, is_open: torch.Tensor) -> torch.Tensor:
        return torch.cat([torch.eye(CELLS)[place], is_open[:, None].float()], 1)

    def context(self, frame: np.ndarray) -> None:
        return None

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        place, is_open = z[:, :CELLS].argmax(1), z[:, CELLS] > 0.5
        forward = (place + 1).clamp(max=CELLS - 1)
        if not self.knows_door:
            moves = [(place - 1).clamp(min=0), forward, place]
            return torch.stack([self.embedding(there, is_open) for there in moves], 1)
        forward = torch.where((forward == DOOR) & ~is_open, place, forward)
        back = torch.where((place - 1 == DOOR) & ~is_open, place, (place - 1).clamp(min=0))
        opened = is_open | (place == DOOR - 1)
        return torch.stack(
            [self.embedding(back, is_open), self.embedding(forward, is_open), self.embedding(place, opened)], 1
        )


@pytest.mark.parametrize(
    ("knows_door", "knows_end", "episodes"), [(True, False, 4), (False, False, 8), (True, True, 4)]
)
def test_the_planner_reaches_what_random_play_does_not(
    knows_door: bool, knows_end: bool, episodes: int, tmp_path: Path
) -> None:
    """The end of the corridor, of which the world shows no picture: in 80 steps by heading for what is new, or for what
    a goal test takes for solved; in 160 if the model does not know what a door is. Random play does not see it in 4,000
    steps (`test_explore.py`)."""
    family = open_family(long_corridor)
    before = pixelplan.collect(long_corridor, "0:2", tmp_path / "data", episodes=2, steps=20, explore=False)
    assert before.solved is not None and not (before.solved == 1).any()
    model = LongCorridorModel(knows_door, knows_end)
    after = collect_with_planner(before, tmp_path / "more", model, open_worlds(family), episodes=episodes, seed=(0,))
    assert after.solved is not None
    for number in (0, 1):
        assert (after.solved[after.frame_level == number] == 1).any()
    chained = np.flatnonzero(after.episode_level == 0)[2:]
    assert (after.episodes[chained[1:], 0] == after.episodes[chained[:-1], -1])[:2].all(), "an episode goes on"


def test_training_has_stops_with_models_and_play(improved: Path) -> None:
    stages = sorted(path.name for path in improved.glob("stage-*"))
    assert stages == ["stage-0.335", "stage-0.67"]
    first, second = (open_trajectories(improved / stage / "play") for stage in stages)
    assert first.manifest["episodes"] == 5 and second.manifest["episodes"] == 8
    assert len(second.manifest["planned"]) == 2 and len(second.frames) >= len(first.frames)
    assert pixelplan.load(improved).threshold > 0
    description = (improved / "config.json").read_text()
    assert '"planned"' not in description and '"episodes": 8' in description
    assert not (improved / "checkpoint.safetensors").exists()
    passes = (improved / "metrics.jsonl").read_text().count("\n")
    assert passes == 3, "one training, not three"


def test_killed_and_resumed_ends_in_the_same_model(data: Path, improved: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    for wanted in ("stage-0.335/config.json", "stage-0.67/play/manifest.json"):
        process = subprocess.Popen(
            [sys.executable, "-m", "pixelplan", *words(data, out), "--resume"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 300
        while not (out / wanted).exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_command(*words(data, out), "--resume")
    for file in ("weights.safetensors", "stage-0.335/weights.safetensors", "stage-0.67/play/frames.npy"):
        assert (out / file).read_bytes() == (improved / file).read_bytes(), file


def test_bad_input_is_one_sentence(data: Path, improved: Path, tmp_path: Path) -> None:
    assert "is not empty" in one_sentence(run_command(*words(data, improved), code=2))
    train = ["train", "--data", data, "--out", tmp_path / "out", "--preset", "tiny", "--on-policy", "2"]
    assert "at least 1 part and 1 episode" in one_sentence(run_command(*train, "--on-policy-episodes", "0", code=2))
    assert "above 0 and below 1" in one_sentence(run_command(*train, "--on-policy-share", "1", code=2))
    with pytest.raises(InputError):
        on_policy_stages(0, 5, 0.5)
    assert not (tmp_path / "out").exists()
