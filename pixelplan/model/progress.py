"""What the user sees while training runs, and the picture of its curves afterwards."""

from __future__ import annotations

import math
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pixelplan.files import figure_bytes, write_bytes
from pixelplan.model.calibrate import JudgingConfig

LOSSES = ("forward", "agree", "inverse", "margin", "pull", "look")


class Display:
    """A live line: pass, losses, validation accuracy, time left; without a terminal, one printed line per pass."""

    def __init__(self, total_updates: int, done_updates: int, passes: int, enabled: bool) -> None:
        self.passes = passes
        self.console = Console(stderr=True, quiet=not enabled)
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self.task = self.progress.add_task("training", total=total_updates, completed=done_updates, state="")

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def update(self) -> None:
        """One gradient step is done."""
        self.progress.advance(self.task)

    def row(self, row: dict[str, Any]) -> None:
        """A pass is done."""
        text = "  ".join(f"{name} {row[name]:.3f}" for name in LOSSES if name in row)
        text += f"  exact {row['exact']:.4f}  lasting {row['lasting']:.2f}"
        self.progress.update(self.task, description=f"pass {row['pass']}/{self.passes}", state=text)
        if not self.console.is_terminal:
            line = f"pass {row['pass']}/{self.passes}  {row['seconds']:.0f} s  {text}"
            self.console.print(line, highlight=False, soft_wrap=True)
        if row.get("warning"):
            self.warn(row["warning"])

    def finishing(self) -> None:
        """All passes are done, and what remains takes up to a few minutes."""
        self.progress.update(self.task, description="measuring, and learning what solves a level", state="")
        if not self.console.is_terminal:
            self.console.print("measuring, and learning what solves a level", highlight=False)

    def start_over(self, attempt: int) -> None:
        """Start again: the passes so far do not count."""
        self.progress.update(self.task, completed=0)
        self.warn(f"the model has not found what the actions move in the noisy frames; attempt {attempt} begins")

    def warn(self, sentence: str) -> None:
        """Something that the user should know."""
        self.console.print(sentence, style="yellow", highlight=False, soft_wrap=True)


def noise_warning(frames: int, seen: int) -> str | None:
    """A warning if as many distinct frames were stored as were seen: no state seems to have occurred twice."""
    if frames < seen:
        return None
    return (
        f"no two of the {frames} recorded frames are alike; if that is visual noise (check-env can tell), train with "
        "--noisy: otherwise every frame counts as a state of its own"
    )


def collapse_warning(row: dict[str, Any], actions: int, judging: JudgingConfig) -> str | None:
    """A warning if the embeddings are all alike, with what to try."""
    guessing = row.get("inverse", math.inf) >= judging.guessing * math.log(actions)
    if row.get("margin", 0.0) < judging.collapsed or not guessing:
        return None
    return (
        f"pass {row['pass']}: the embeddings are all alike (margin loss {row['margin']:.2f}, the inverse model "
        "guesses); if this lasts, try a smaller forward weight, a larger look weight, a smaller learning rate or more "
        "levels"
    )


def draw_curves(folder: Path, rows: list[dict[str, Any]]) -> None:
    """`curves.png`: losses on a logarithmic scale, and the share of one-step predictions that are wrong."""
    from matplotlib.figure import Figure  # takes half a second to import, and only the end of training needs it

    figure = Figure(figsize=(9, 3.5))
    margins = {"left": 0.08, "right": 0.99, "bottom": 0.14, "top": 0.97, "wspace": 0.2}
    left, right = figure.subplots(1, 2, gridspec_kw=margins)  # computing a layout takes as long as drawing
    passes = [row["pass"] for row in rows]
    for name in LOSSES:
        if any(row.get(name, 0) > 0 for row in rows):
            left.plot(passes, [row.get(name) or math.nan for row in rows], label=name)
    left.set(xlabel="pass", ylabel="loss", yscale="log")
    if left.lines:  # families that learn all at once have no losses
        left.legend(loc="upper right")
    right.plot(passes, [row["exact"] for row in rows], label="validation levels")
    right.set(xlabel="pass", ylabel="steps predicted exactly", ylim=(0, 1.02))
    right.legend(loc="lower right")
    write_bytes(folder / "curves.png", figure_bytes(figure, dpi=120))
