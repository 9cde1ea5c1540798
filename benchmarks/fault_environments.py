"""Bad environments: every fault of `fault_worlds` in every place, under every command that plays."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from fault_inputs import Case, Wrong
from fault_shim import run
from fault_worlds import FAULTS, PLACES

HANGS = ("hang", "busy", "stubborn")
RAISING = tuple(FAULTS)[: tuple(FAULTS).index("none")] + HANGS
ONLY_STEPS = ("no-reward", "word-reward", "odd-end")


def environments(first: int) -> Case:
    """Every fault in every place of an environment, at once and late, under every command that plays."""
    number = itertools.count(first)
    cases = bad_environments()

    def case(random: np.random.Generator, place: Path) -> str:
        command, fault, where, late = cases[next(number) % len(cases)]
        env = ["--env", "fault_worlds:make", "--option", f"fault={fault}", f"where={where}", f"late={late}"]
        play = {
            "check-env": ["--levels", "0:3", "--episodes", "2", "--steps", "6"],
            "collect": ["--levels", "0:3", "--episodes", "2", "--steps", "6", "--out", place / "data"],
            "explore": ["--levels", "0:3", "--episodes", "2", "--steps", "6", "--out", place / "data", "--explore"],
            "solve": ["--level", "1", "--planner", "image-search"],
            "evaluate": ["--levels", "0:3", "--planner", "image-search", "--step-limit", "20"],
        }[command]
        name = "collect" if command == "explore" else command
        done = run([name, *env, *play, "--step-seconds", "0.3"], seconds=30)
        last = (done.errors.strip().splitlines() or [""])[-1]
        says_so = last.startswith("pixelplan: ") and "fault_worlds" in last
        if done.code != 2 or not says_so or done.fault is not None:
            raise Wrong(f"{command} {fault} in {where}, late {late}: {done.code} {done.errors[-300:]}")
        return "one sentence"

    return case


def bad_environments() -> list[tuple[str, str, str, bool]]:
    """Command (`explore` is collect that explores), fault, place and whether it comes late."""
    cases = []
    for fault, where, late, command in itertools.product(
        FAULTS, (*PLACES, "make"), (False, True), ("check-env", "collect", "explore", "solve", "evaluate")
    ):
        asked = where in ("reset", "step", "make") or command not in ("collect", "explore")
        possible = (
            (where != "make" or (fault in RAISING and fault not in HANGS and not late))
            and (where != "shortest_solution" or fault in RAISING)
            and (where == "step" or fault not in ONLY_STEPS)
            and not (where == "reset" and fault == "four")  # it returns two values
            and not (where == "goal_frame" and late and command == "check-env")  # it looks at the first goal only
            and not (where == "shortest_solution" and late and command == "check-env")
        )
        if asked and possible:
            cases.append((command, fault, where, late))
    return cases
