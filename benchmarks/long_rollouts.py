"""Whether a model is still exact after thousands of steps: random play in the world, and the same actions in the model.

    python benchmarks/long_rollouts.py --env examples.cube:make --option size=3 --model runs/search/cube3-model \
        --levels 2000:2010 --steps 10000 [--json results/search/cube3-rollouts.json]

The model sees each level's first frame and then actions only. After every step its code is compared with that of the
frame that the world shows; a walk that was wrong once stays wrong.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pixelplan.by_name.open_model import choose_model
from pixelplan.cli.options import parse_family
from pixelplan.envs.family import Family
from pixelplan.envs.noise_config import Noise
from pixelplan.files import level_numbers, parse_levels, write_json
from pixelplan.machine import describe_machine
from pixelplan.planning.one_shot import inference
from pixelplan.types import Model

TOGETHER = 100
"""Frames that are encoded at a time."""


def exact_steps(model: Model, family: Family, number: int, steps: int) -> int:
    """The steps of random play in a level before the model is first wrong; `steps` if it never is."""
    env = family.challenge(number).env
    frame = env.reset()[0]
    random = np.random.default_rng([0, number])
    context, z = model.context(frame), model.encode(frame[None])
    for first in range(0, steps, TOGETHER):
        actions = random.integers(len(family.action_names), size=min(TOGETHER, steps - first)).tolist()
        frames, codes = [], []
        for action in actions:
            frames.append(env.step(action)[0])
            z = model.step(z, context)[:, action]
            codes.append(z)
        apart = (model.encode(np.stack(frames)) - torch.cat(codes)).norm(dim=1)
        wrong = torch.nonzero(apart >= model.threshold).flatten()
        if len(wrong):
            return first + int(wrong[0])
    return steps


def main(arguments: argparse.Namespace) -> dict[str, Any]:
    """How long the walks stay right."""
    model, family = choose_model(
        arguments.model, "one-shot", parse_family(arguments.env, arguments.option, None, Noise())
    )
    assert model is not None
    began = time.perf_counter()
    with inference():
        lasted = [
            exact_steps(model, family, number, arguments.steps)
            for number in level_numbers(parse_levels(arguments.levels))
        ]
    return {
        "command": f"python benchmarks/long_rollouts.py --env {arguments.env} --option {' '.join(arguments.option)} "
        f"--model {arguments.model} --levels {arguments.levels} --steps {arguments.steps}",
        **describe_machine(),
        "steps": arguments.steps,
        "exact to the end": sum(steps == arguments.steps for steps in lasted) / len(lasted),
        "exact steps": lasted,
        "seconds": round(time.perf_counter() - began, 1),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", required=True)
    parser.add_argument("--option", nargs="*", default=[])
    parser.add_argument("--model", required=True)
    parser.add_argument("--levels", default="2000:2010")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    record = main(arguments)
    print(json.dumps(record))
    if arguments.json:
        write_json(arguments.json, record)
