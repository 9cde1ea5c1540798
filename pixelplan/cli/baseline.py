"""The paper's baselines, such as `pixelplan baseline ppo`: each trains, if it learns, then plays for a record."""

from __future__ import annotations

import dataclasses
import json as json_format
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import OmitArgPrefixes

from pixelplan.cli.names import PUZZLE
from pixelplan.cli.options import parse_options, progress_bar
from pixelplan.files import parse_levels, write_json
from pixelplan.puzzles import Puzzle
from pixelplan.types import InputError

if TYPE_CHECKING:  # training imports torch, which takes seconds
    from pixelplan.baselines.policy import Budget, Policy


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The levels that a baseline plays."""

    env: Annotated[str, PUZZLE]
    option: tuple[str, ...] = ()
    """Options of the puzzle as name=value, such as size=4."""
    levels: str = "2000:2100"
    """The levels to play for the record, A:B, B excluded."""
    step_limit: int = 256
    """The most steps in each level."""
    seed: int = 0
    """Decides the random choices of training and of playing."""
    json: str | None = None
    """The record to write, or - to print it and nothing else."""

    def puzzle(self) -> Puzzle:
        """The puzzle with its options; an InputError for anything that would otherwise fail later."""
        parse_levels(self.levels)
        if self.step_limit < 1 or self.seed < 0:
            raise InputError(f"step-limit is {self.step_limit} and seed is {self.seed}; they must be at least 1 and 0")
        if self.json not in (None, "-") and Path(str(self.json)).is_dir():
            raise InputError(f"{self.json} is a folder; name a file for the record")
        return parse_options(self.env, self.option)


@dataclass(frozen=True, kw_only=True)
class Trained(Judged):
    """A baseline's training, and the levels that it plays afterwards."""

    out: Path
    """The folder of the run, for its checkpoint and metrics."""
    steps: int
    """Training steps, over all games."""
    train_levels: str = "0:1000"
    """The range A:B of levels to train on, B excluded."""
    seconds: float | None = None
    """Stop training after this many seconds and report the steps taken; --resume continues."""
    resume: bool = False
    """Continue an interrupted run to the same result, or a finished one for more steps. A complete run only plays."""

    def range(self) -> tuple[int, int]:
        """The range of training levels; an InputError for anything that would fail only after hours of training."""
        train = parse_levels(self.train_levels)
        if len(train) != 1:
            raise InputError(f"the training levels are {self.train_levels!r}; a baseline trains on one range A:B")
        if any(played.start < train[0].stop and train[0].start < played.stop for played in parse_levels(self.levels)):
            raise InputError(
                f"the levels {self.levels} overlap the training levels {self.train_levels}; play levels not trained on"
            )
        if self.steps < 1:
            raise InputError(f"steps is {self.steps}; it must be at least 1")
        return train[0].start, train[0].stop


def ppo(
    run: Annotated[Trained, OmitArgPrefixes],
    *,
    network: Literal["cells", "nature", "impala"] = "cells",
    rollout_steps: int | None = None,
    games: int = 64,
) -> None:
    """PPO by stable-baselines3 with Procgen's settings and the sparse reward.

    Example: pixelplan baseline ppo --env ice-slider --steps 1000000 --out runs/ppo-ice --json ppo-ice.json

    Args:
        run: The run.
        network: A network that looks at cells, NatureCNN, or Procgen's IMPALA network; each takes several times the
            work of the one before.
        rollout_steps: Steps per game in a rollout, and the most in an episode; the default depends on the puzzle.
        games: Games played at once.
    """
    from pixelplan.baselines import need_extra

    need_extra("stable_baselines3", "baselines", "PPO")
    from pixelplan.baselines.ppo import PpoConfig, train_ppo

    train_and_play(run, "ppo", train_ppo, PpoConfig(network=network, rollout_steps=rollout_steps, games=games))


def glamor(
    run: Annotated[Trained, OmitArgPrefixes],
    *,
    horizon: int = 50,
    samples: int = 200,
    subtract_prior: bool = False,
    rule: Literal["goal", "near"] = "goal",
) -> None:
    """GLAMOR: inverse dynamics over many steps, learned by trying to reach goals; it plans at each step.

    Example: pixelplan baseline glamor --env digit-jump --steps 50000 --out runs/glamor-digit --json glamor-digit.json

    Args:
        run: The run.
        horizon: Steps in an episode, in the longest segment learned from and in the longest plan.
        samples: Action sequences drawn for a plan.
        subtract_prior: Score plans by p(a|s,g)/p(a|s), as in GLAMOR's text, instead of p(a|s,g), as in its code.
        rule: When a level counts as solved: on the goal, or also when it ends within one cell of it (the paper's
            rule for GLAMOR). The record names the rule and has the success rate by both.
    """
    from pixelplan.baselines.glamor import train_glamor
    from pixelplan.baselines.glamor_network import GlamorConfig

    config = GlamorConfig(horizon=horizon, samples=samples, subtract_prior=subtract_prior)
    train_and_play(run, "glamor", train_glamor, config, rule)


def dreamer(
    run: Annotated[Trained, OmitArgPrefixes],
    *,
    size: Literal["small", "original"] = "small",
    replay_ratio: float = 0.2,
    learning_starts: int = 1000,
    pretrain_steps: int = 100,
    checkpoint_every: int = 500,
) -> None:
    """DreamerV2 by sheeprl. Its checkpoints can hold code: resume only runs that you made yourself.

    Example: pixelplan baseline dreamer --env digit-jump --steps 10000 --out runs/dreamer --json dreamer-digit.json

    Args:
        run: The run.
        size: small is for CPUs; original is DreamerV2's own size for Atari.
        replay_ratio: Gradient steps per step played.
        learning_starts: Steps played at random before training.
        pretrain_steps: Gradient steps when training starts.
        checkpoint_every: Steps between checkpoints: the most that an interruption costs.
    """
    from pixelplan.baselines import need_extra

    need_extra("sheeprl", "dreamer", "DreamerV2")
    from pixelplan.baselines.dreamer import DreamerConfig, train_dreamer

    config = DreamerConfig(
        size=size,
        replay_ratio=replay_ratio,
        learning_starts=learning_starts,
        pretrain_steps=pretrain_steps,
        checkpoint_every=checkpoint_every,
    )
    train_and_play(run, "dreamer", train_dreamer, config)


def random(judged: Annotated[Judged, OmitArgPrefixes]) -> None:
    """Random actions: the floor.

    Example: pixelplan baseline random --env procgen-maze

    Args:
        judged: The levels to play.
    """
    from pixelplan.baselines.policy import Budget
    from pixelplan.baselines.random_policy import RandomPolicy

    play(judged, judged.puzzle(), "random", RandomPolicy(), Budget(0, 0, 0.0), {"config": {}, "train_levels": None})


def image_search(judged: Annotated[Judged, OmitArgPrefixes]) -> None:
    """GS on Images: try everything, and tell states apart by their frames; nothing is learned.

    Example: pixelplan baseline image-search --env ice-slider --seed 1

    Args:
        judged: The levels to play.
    """
    from pixelplan.baselines.judge import describe_budget
    from pixelplan.baselines.policy import Budget
    from pixelplan.by_name.evaluate import evaluate
    from pixelplan.evaluation.run import record
    from pixelplan.planning import ImageSearchConfig

    puzzle, config = judged.puzzle(), ImageSearchConfig(judged.step_limit)
    with progress_bar("playing", "levels") as progress:
        result = evaluate(
            puzzle, judged.levels, planner="image-search", config=config, seed=judged.seed, progress=progress
        )
    report({**record(result), "budget": describe_budget(Budget(0, 0, 0.0))}, judged.json)


BASELINES = (ppo, glamor, dreamer, image_search, random)
"""The commands under `pixelplan baseline`."""


def train_and_play(
    run: Trained,
    algorithm: str,
    train: Callable[..., tuple[Policy, Budget]],
    config: Any,
    rule: Literal["goal", "near"] = "goal",
) -> None:
    """Train with a function such as `train_ppo`, then play the levels and report."""
    puzzle, trained_on = run.puzzle(), run.range()
    with progress_bar("training", "steps") as progress:
        policy, budget = train(
            puzzle,
            run.env,
            trained_on,
            run.steps,
            run.out,
            config=config,
            seed=run.seed,
            seconds=run.seconds,
            resume=run.resume,
            progress=progress,
        )
    about = {"config": dataclasses.asdict(config), "train_levels": trained_on}
    play(run, puzzle, algorithm, policy, budget, about, rule)


def play(
    judged: Judged,
    puzzle: Puzzle,
    algorithm: str,
    policy: Policy,
    budget: Budget,
    about: Mapping[str, Any],
    rule: Literal["goal", "near"] = "goal",
) -> None:
    """Let a policy play the levels, and report."""
    from pixelplan.baselines.judge import evaluate_policy

    with progress_bar("playing", "levels") as progress:
        record = evaluate_policy(
            policy,
            puzzle,
            judged.levels,
            request={"env": judged.env, "planner": algorithm, "model": None, **about},
            budget=budget,
            rule=rule,
            step_limit=judged.step_limit,
            seed=judged.seed,
            progress=progress,
        )
    report(record, judged.json)


def report(record: Mapping[str, Any], json: str | None) -> None:
    """Write the record and sum it up in two lines, or print the record and nothing else."""
    if json == "-":
        print(json_format.dumps(record, ensure_ascii=False))
        return
    if json is not None:
        path = Path(json)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, record)
    solved, (low, high) = sum(episode["solved"] for episode in record["episodes"]), record["interval"]
    print(
        f"{record['env']}, {record['planner']}: solved {solved} of {len(record['episodes'])} levels, "
        f"{record['success']:.3f} (95 % interval {low:.3f} to {high:.3f})"
    )
    budget = record["budget"]
    if budget["wanted_steps"]:
        print(
            f"  after {budget['environment_steps']:,} of {budget['wanted_steps']:,} steps and "
            f"{budget['updates']:,} gradient steps in {budget['seconds']:.0f} s ({budget['steps_per_second']} steps/s)"
        )
