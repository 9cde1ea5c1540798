"""DreamerV2 (Hafner et al. 2020) by sheeprl, in a process of its own that gets our games through its configuration.

sheeprl resumes from its own checkpoints. Like all pickled files they can hold code, so resume only runs that you made
yourself. What plays here is a copy of the weights as safetensors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
import torch
from safetensors.torch import load_file, save

from pixelplan.baselines.policy import Budget
from pixelplan.baselines.run_folder import check_request, training_request
from pixelplan.files import read_json, write_bytes, write_json
from pixelplan.model.checkpoint import WEIGHTS_FILE
from pixelplan.puzzles import IDS, PUZZLES, PlayOptions, Puzzle, PuzzleEnv, make_puzzle
from pixelplan.types import ACTIONS, InputError

RUN = "run.json"
EPISODE_STEPS = {"ice-slider": 64, "digit-jump": 64, "procgen-maze": 256}
"""Steps after which an episode of training is cut, since games get stuck for good."""

SIZES = {
    "small": (
        "algo.per_rank_batch_size=8",
        "algo.per_rank_sequence_length=20",
        "algo.dense_units=200",
        "algo.world_model.encoder.cnn_channels_multiplier=16",
        "algo.world_model.recurrent_model.recurrent_state_size=200",
        "algo.world_model.transition_model.hidden_size=200",
        "algo.world_model.representation_model.hidden_size=200",
        "algo.world_model.discrete_size=16",
        "algo.world_model.stochastic_size=16",
    ),
    "original": (),
}
"""Changes to sheeprl's settings for DreamerV2: the original size takes about 20 s per gradient step on a CPU."""

CHILD_CODE = "from pixelplan.baselines.dreamer import run_sheeprl; run_sheeprl()"


@dataclass(frozen=True)
class DreamerConfig:
    """Settings that we pass to sheeprl; all others are its own for DreamerV2."""

    size: Literal["small", "original"] = "small"
    """small is for CPUs: batches of 8 × 20 and networks of about half the width."""
    games: int = 4
    """Games played at once."""
    replay_ratio: float = 0.2
    """Gradient steps for each step played."""
    learning_starts: int = 1000
    """Steps played at random before training."""
    pretrain_steps: int = 100
    """Gradient steps when training starts."""
    checkpoint_every: int = 500
    """Steps between checkpoints: the most that an interruption costs."""


def make_game(id: str, render_mode: str | None, puzzle: str, first: int, end: int, **options: Any) -> PuzzleEnv:
    """sheeprl calls this for each of its games; it insists on `id` and `render_mode`."""
    play = PlayOptions(levels=(first, end), max_episode_steps=EPISODE_STEPS[puzzle])
    return PuzzleEnv(make_puzzle(puzzle, **options), play)


def run_sheeprl() -> None:
    """sheeprl's command line, in a process that ends when the one that started it ends for any reason."""
    from sheeprl.cli import run

    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
    run()


def train_dreamer(
    puzzle: Puzzle,
    name: str,
    levels: tuple[int, int],
    steps: int,
    out: Path,
    *,
    config: DreamerConfig = DreamerConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    seconds: float | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[DreamerPolicy, Budget]:
    """Train on a range of levels for some steps, or until `seconds` have passed; returns policy and cost."""
    if puzzle.pixels != 64:
        raise InputError(f"DreamerV2 sees 64 × 64 pixels; {name} has frames of {puzzle.pixels}")
    request = training_request("dreamer", name, puzzle, levels, seed, config)
    note = _begin(out, request, resume)
    saved = _last_checkpoint(out)
    if saved is None or _steps_of(saved) < steps:
        if saved is not None:
            _check_place(saved.parents[1] / "config.yaml", out)
        note |= {"seconds": _seconds(note, saved), "began": time.time()}
        write_json(out / RUN, note)
        _run(_command(name, request["options"], levels, steps, out, config, seed, saved), out, steps, seconds, progress)
        saved = _last_checkpoint(out)
    if saved is None:
        raise InputError(f"DreamerV2 was stopped before its first checkpoint in {out}; give it more time")
    updates = _copy_weights(saved, out / WEIGHTS_FILE)
    budget = Budget(
        environment_steps=_steps_of(saved),
        wanted_steps=steps,
        seconds=round(_seconds(note, saved), 1),
        updates=updates,
        threads=_threads(),
    )
    return DreamerPolicy(saved.parents[1] / "config.yaml", out / WEIGHTS_FILE), budget


class DreamerPolicy:
    """sheeprl's player; it draws its actions as in training."""

    def __init__(self, settings: Path, weights: Path) -> None:
        from lightning.fabric import Fabric
        from omegaconf import OmegaConf
        from sheeprl.algos.dreamer_v2.agent import build_agent
        from sheeprl.utils.utils import dotdict

        loaded: Any = OmegaConf.to_container(OmegaConf.load(settings), resolve=True)
        loaded["env"]["num_envs"] = 1
        states: dict[str, dict[str, torch.Tensor]] = {"world_model": {}, "actor": {}}
        for key, tensor in load_file(weights).items():
            part, _, rest = key.partition("/")
            states[part][rest] = tensor
        space = gymnasium.spaces.Dict({"rgb": gymnasium.spaces.Box(0, 255, (3, 64, 64), np.uint8)})
        *_, self._player = build_agent(
            Fabric(accelerator="cpu", devices=1),
            (len(ACTIONS),),
            False,
            dotdict(loaded),
            space,
            states["world_model"],
            states["actor"],
        )
        self._player.num_envs = 1

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        """A new episode with an empty memory; the goal frame is not used, DreamerV2 has only seen rewards."""
        torch.manual_seed(int(random.integers(2**62)))  # sheeprl draws from torch's own generator
        self._player.init_states()

    @torch.no_grad()
    def act(self, frame: np.ndarray) -> int:
        """An action in a frame [64,64,3], given all frames since the episode began."""
        picture = torch.from_numpy(frame).permute(2, 0, 1)[None, None].float() / 255 - 0.5
        return int(self._player.get_actions({"rgb": picture})[0].argmax())


def _begin(out: Path, request: dict[str, Any], resume: bool) -> dict[str, Any]:
    """The note of the run in a folder, new or resumed; an InputError if the folder holds another run."""
    if not (out / RUN).exists():
        if out.is_dir() and any(out.iterdir()):
            raise InputError(f"{out} is not empty; name a new folder")
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / RUN, {"request": request, "seconds": 0.0, "began": 0.0})
    elif not resume:
        raise InputError(f"{out} already holds a run; add --resume to continue it, or name a new folder")
    note: dict[str, Any] = read_json(out / RUN)
    check_request(out, note, request)
    return note


def _command(
    name: str,
    options: dict[str, Any],
    levels: tuple[int, int],
    steps: int,
    out: Path,
    config: DreamerConfig,
    seed: int,
    saved: Path | None,
) -> list[str]:
    """sheeprl's command line: DreamerV2 on our games, on the CPU."""
    first, end = levels
    known = {field.name for field in dataclasses.fields(PUZZLES[name])}
    return [
        *(sys.executable, "-c", CHILD_CODE, "exp=dreamer_v2", "env=gym", f"env.id={IDS[name]}"),
        "env.wrapper._target_=pixelplan.baselines.dreamer.make_game",
        *(f"+env.wrapper.puzzle={name}", f"+env.wrapper.first={first}", f"+env.wrapper.end={end}"),
        *(f"+env.wrapper.{key}={value}" for key, value in options.items() if key in known and value is not None),
        *(f"env.num_envs={config.games}", "env.sync_env=True", "env.capture_video=False"),
        *("fabric.accelerator=cpu", "fabric.devices=1", f"num_threads={_threads()}", f"seed={seed}"),
        *(f"algo.total_steps={steps}", f"algo.replay_ratio={config.replay_ratio}", "algo.run_test=False"),
        *(f"algo.learning_starts={config.learning_starts}", f"algo.per_rank_pretrain_steps={config.pretrain_steps}"),
        *(f"buffer.size={max(steps, 1000)}", f"checkpoint.every={config.checkpoint_every}", "checkpoint.keep_last=1"),
        *(f"log_root={out.resolve()}", "root_dir=sheeprl", "run_name=run", f"metric.log_every={steps}"),
        *SIZES[config.size],
        *([f"checkpoint.resume_from={saved.resolve()}"] if saved else []),
    ]


def _run(
    command: list[str], out: Path, steps: int, seconds: float | None, progress: Callable[[int, int], None]
) -> None:
    """Run sheeprl to its end or until time is up; an InputError with its last words if it fails."""
    root = Path(__file__).parents[2]  # so that sheeprl finds this package even if it is not installed
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "HYDRA_FULL_ERROR": "1"}
    last_words: deque[str] = deque(maxlen=5)
    began = time.monotonic()
    with _started(command, out, environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last_words.append(line.strip())
            reported = re.search(r"policy_step=(\d+)", line)
            if reported:
                progress(int(reported[1]), steps)
            if seconds is not None and time.monotonic() - began > seconds:
                process.terminate()  # the last checkpoint stays
                return
    if process.returncode:
        raise InputError(f"sheeprl ended with code {process.returncode}: {' | '.join(last_words)}")


@contextlib.contextmanager
def _started(command: list[str], out: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process whose output can be read; it never outlives ours, because its standard input closes with it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=out, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
            process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


def _last_checkpoint(out: Path) -> Path | None:
    """The newest of sheeprl's checkpoints."""
    return max(out.glob("sheeprl/**/ckpt_*.ckpt"), key=_steps_of, default=None)


def _seconds(note: dict[str, Any], checkpoint: Path | None) -> float:
    """Wall time of training up to a checkpoint: before sheeprl was last started, and since."""
    since = checkpoint.stat().st_mtime - note["began"] if checkpoint and note["began"] else 0.0
    return float(note["seconds"]) + max(0.0, since)


def _check_place(settings: Path, out: Path) -> None:
    """An InputError if a run's folder was moved: sheeprl would continue in the old place."""
    root = re.search(r"^log_root: (.+)$", settings.read_text(), re.MULTILINE)
    if root is not None and root[1] != str(out.resolve()):
        raise InputError(f"{out} was moved: DreamerV2's run can only be resumed in {root[1]}, where it was started")


def _steps_of(checkpoint: Path) -> int:
    return int(checkpoint.name.split("_")[1])


def _copy_weights(checkpoint: Path, path: Path) -> int:
    """Write the weights that play as safetensors; returns the number of gradient steps."""
    stand_in = (list, "sheeprl.utils.fs.BufferFiles")  # the one thing in it that is neither a tensor nor plain
    with torch.serialization.safe_globals([stand_in]):
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    tensors = {
        f"{part}/{key}": tensor.contiguous().clone()
        for part in ("world_model", "actor")
        for key, tensor in state[part].items()
    }
    write_bytes(path, save(tensors))
    return int(state["per_rank_gradient_steps"])


def _threads() -> int:
    return torch.get_num_threads()
