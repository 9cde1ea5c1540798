"""The command line, with nonsense words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from fault_commands import WORLD, Command
from fault_inputs import Case, Wrong
from fault_shim import SLOWEST, run


def arguments(base: Path, commands: dict[str, Command]) -> Case:
    """The command line: options with nonsense values."""
    base.mkdir(parents=True, exist_ok=True)
    good = {
        "collect": [*WORLD, "--levels", "0:2", "--episodes", "1", "--steps", "4", "--seed", "0", "--out", "OUT"],
        "levels": [*WORLD, "--levels", "0:2", "--columns", "2", "--out", "OUT.png"],
        "check-env": [*WORLD, "--levels", "0:1", "--episodes", "2", "--steps", "4", "--seed", "0"],
        "evaluate": [*WORLD, "--levels", "0:1", "--model", "oracle", "--planner", "one-shot", "--seed", "0"],
        "solve": [*WORLD, "--level", "0", "--model", "oracle", "--planner", "one-shot", "--seed", "0"],
        "train": ["--data", "OUT", "--out", "OUT2", "--preset", "tiny", "--seed", "0", "--updates", "1"],
        "inspect": ["OUT"],
        "import": ["OUT.npz", "--out", "OUT", "--pixels", "16"],
        "reproduce": ["generalisation", "--dry-run", "--levels", "1", "--seeds", "0", "--runs", "OUT"],
        "web": ["--port", "abc", "--host", "x"],
    }
    odd = [
        *(
            "",
            " ",
            "-1",
            "0",
            "abc",
            "nan",
            "inf",
            "-inf",
            "1e9",
            "1.5",
            "999999999",
            "9" * 400,
            "--",
            "-",
            "🙂",
            "\x07",
        ),
        *(
            "0:",
            ":5",
            "5:1",
            "0:2000000000",
            "0:2,1",
            "0:3000000000",
            "a:b",
            "../../..",
            "/",
            "/dev/null",
            "/proc/self",
        ),
        *(
            "oracle",
            "ice-slider",
            "size=1000000",
            "size=-1",
            "pixels=10000000",
            "size",
            "=",
            "x=y",
            "[bold]",
            "%s",
            "{}",
        ),
    ]

    def case(random: np.random.Generator, place: Path) -> str:
        name = str(random.choice(list(good)))
        words = [word.replace("OUT", str(place / "out")) for word in good[name]]
        for _ in range(int(random.integers(1, 3))):
            at = int(random.integers(1 if name == "web" else 0, len(words)))
            change = random.random()
            if change < 0.7 or name == "web":
                words[at] = odd[int(random.integers(len(odd)))] if name != "web" else "-5"
            elif change < 0.85 and len(words) > 1:
                del words[at]
            else:
                words.insert(at, odd[int(random.integers(len(odd)))])
        done = run([name, *words], seconds=SLOWEST)
        if done.fault is not None:
            raise Wrong(f"{[name, *words]}: {done.fault}"[:500])
        return "refused" if done.code else "taken"

    return case
