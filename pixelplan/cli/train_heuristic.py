"""The command that learns a distance for best-first search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tyro.conf import OmitArgPrefixes

from pixelplan.cli.names import WORLD
from pixelplan.distance.distance_config import DistanceConfig

if TYPE_CHECKING:
    import numpy as np

    from pixelplan.types import Goal


def train_heuristic(
    *,
    env: Annotated[str, WORLD],
    model: str,
    out: Path,
    levels: str = "0:1000",
    held_out: str = "1000:1050",
    option: tuple[str, ...] = (),
    threads: int = 1,
    resume: bool = False,
    config: Annotated[DistanceConfig, OmitArgPrefixes] = DistanceConfig(),  # noqa: B008 (frozen)
) -> None:
    """Learn how far states are from the goal, inside a world model, so that best-first search finds distant goals.

    Example: pixelplan train-heuristic --env examples.sokoban_levels:make --model oracle --levels 0:16 --held-out 16:24
    --out runs/boxes-heuristic

    Args:
        model: A folder written by train, the name of a shipped model, or oracle (the true rules of an environment that
            offers them); its codes must be zeros and ones.
        out: The folder to write, for evaluate --heuristic.
        levels: Levels to learn from, A:B, B excluded, several with commas.
        held_out: Levels that show after each round whether it is learning; never learned from.
        option: Options of the puzzle or environment as name=value, such as levels=FILE.
        threads: Processor cores to use.
        resume: Continue after the last finished round, to exactly the same weights.
        config: How it is learned.
    """
    import torch

    from pixelplan.by_name.open_model import choose_model, model_identity, model_name
    from pixelplan.cli.options import parse_family
    from pixelplan.distance.rounds import Round, train_distance
    from pixelplan.envs.noise_config import Noise
    from pixelplan.files import level_numbers, parse_levels
    from pixelplan.machine import describe_machine
    from pixelplan.types import InputError

    if threads < 1:
        raise InputError(f"threads is {threads}; it must be at least 1")
    numbers, others = (level_numbers(parse_levels(text)) for text in (levels, held_out))
    opened, family = choose_model(model, "one-shot", parse_family(env, option, None, Noise()))
    if opened is None:
        raise InputError(f"the oracle of {family.name} searches tables and needs no heuristic; give a trained model")
    family.level(max(*numbers, *others))

    def print_round(done: Round) -> None:
        searched = f"search of {done.nodes:,} nodes: {done.solved:.2f} solved" if done.nodes else "random play"
        actions = "" if done.held_out_actions is None else f", {done.held_out_actions:.2f} of actions right"
        print(
            f"round {done.number}, {searched}; held out: {done.held_out_solved:.2f} solved, "
            f"median {done.held_out_nodes:,.0f} nodes{actions}; loss {done.loss:.4f}, {done.seconds:.0f} s",
            flush=True,
        )

    def opened_level(number: int) -> tuple[np.ndarray, Goal]:
        challenge = family.challenge(number)
        return challenge.env.reset()[0], challenge.goal

    about = {
        "env": family.name,
        "options": dict(family.options),
        "model": model_name(model, "one-shot", family.name),
        "model_identity": model_identity(opened, family.name),
        "levels": levels,
        "held_out": held_out,
        **describe_machine(),
    }
    torch.set_num_threads(threads)
    train_distance(opened, opened_level, numbers, others, out, config, about, resume, print_round)
    print(f"{out}: for evaluate --heuristic {out} --frontier best-first")
