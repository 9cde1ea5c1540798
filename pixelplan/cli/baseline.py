"""The paper's baselines: `pixelplan baseline ppo` and so on. Each trains if need be and plays levels for the record."""

from __future__ import annotations

from typing import Annotated, Literal

from tyro.conf import OmitArgPrefixes

from pixelplan.cli.judged import Judged, Trained


def ppo(
    run: Annotated[Trained, OmitArgPrefixes],
    *,
    network: Literal["nature", "impala"] = "nature",
    rollout_steps: int | None = None,
    games: int = 64,
) -> None:
    """PPO by stable-baselines3 with Procgen's settings and the sparse reward.

    Example: pixelplan baseline ppo --env ice-slider --steps 1000000 --out runs/ppo-ice --json ppo-ice.json

    Args:
        run: The run.
        network: NatureCNN, or Procgen's IMPALA network, about ten times the work.
        rollout_steps: Steps of each game in a rollout and at most in an episode; by default as the puzzle needs.
        games: Games played at once.
    """
    from pixelplan.baselines import need_extra
    from pixelplan.cli.judged import train_and_play

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
    """GLAMOR: inverse dynamics over many steps, learnt by trying to reach goals; plans at each step.

    Example: pixelplan baseline glamor --env digit-jump --steps 50000 --out runs/glamor-digit --json glamor-digit.json

    Args:
        run: The run.
        horizon: Steps of an episode, of the longest segment learnt from and of the longest plan.
        samples: Action sequences drawn for a plan.
        subtract_prior: Score plans by p(a|s,g)/p(a|s), as GLAMOR's text has it, instead of p(a|s,g), as its code does.
        rule: When a level counts as solved: on the goal, or also when it ends within one cell of it (the paper's
            rule for GLAMOR). The record names the rule and has the success by both.
    """
    from pixelplan.baselines.glamor import train_glamor
    from pixelplan.baselines.glamor_network import GlamorConfig
    from pixelplan.cli.judged import train_and_play

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
        replay_ratio: Gradient steps for each step played.
        learning_starts: Steps played at random before training.
        pretrain_steps: Gradient steps when training starts.
        checkpoint_every: Steps between checkpoints: what an interruption can cost.
    """
    from pixelplan.baselines import need_extra
    from pixelplan.cli.judged import train_and_play

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
        judged: What is played.
    """
    from pixelplan.baselines.policy import Budget
    from pixelplan.baselines.random_policy import RandomPolicy
    from pixelplan.cli.judged import play

    play(judged, judged.puzzle(), "random", RandomPolicy(), Budget(0, 0, 0.0), {"config": {}, "train_levels": None})


def image_search(judged: Annotated[Judged, OmitArgPrefixes]) -> None:
    """GS on Images: search by trying everything, states told apart by their frames; nothing is learnt.

    Example: pixelplan baseline image-search --env ice-slider --seed 1

    Args:
        judged: What is played.
    """
    from pixelplan.baselines.judge import describe_budget
    from pixelplan.baselines.policy import Budget
    from pixelplan.cli.judged import report
    from pixelplan.cli.options import progress_bar
    from pixelplan.evaluation.run import evaluate, record
    from pixelplan.planning import ImageSearchConfig

    puzzle, config = judged.puzzle(), ImageSearchConfig(judged.step_limit)
    with progress_bar("playing", "levels") as progress:
        result = evaluate(
            puzzle, judged.levels, planner="image-search", config=config, seed=judged.seed, progress=progress
        )
    report({**record(result), "budget": describe_budget(Budget(0, 0, 0.0))}, judged.json)


BASELINES = (ppo, glamor, dreamer, image_search, random)
"""What stands under `pixelplan baseline`."""
