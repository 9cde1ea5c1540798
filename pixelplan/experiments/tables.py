"""What all tables and figures share: a mean and its interval over seeds, Markdown, CSV, PNG and SVG."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelplan.evaluation.stats import wilson
from pixelplan.files import figure_bytes, write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL import Image

STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""97.5 % quantiles of Student's distribution with 1, 2, … degrees of freedom; beyond them the normal one's is used."""

INTERVALS = (
    "the mean, and in brackets the 95 % interval (over seeds, by Student's distribution; if there is only one, over "
    "levels, by Wilson's) and the number of seeds. An empty cell was not run, or is not in the paper."
)
"""The legend of tables of summaries."""


@dataclass(frozen=True)
class Summary:
    """A share over seeds."""

    mean: float
    low: float
    high: float
    """The 95 % interval: Student's over seeds; Wilson's over levels if there is only one seed."""
    seeds: int

    def text(self, digits: int = 2) -> str:
        """For a table."""
        seeds = "1 seed" if self.seeds == 1 else f"{self.seeds} seeds"
        return f"{self.mean:.{digits}f} ({self.low:.{digits}f}–{self.high:.{digits}f}, {seeds})"


def summarise(rates: Sequence[float], levels: int = 100) -> Summary | None:
    """Rates of several seeds, each over `levels` levels, as one; None if there are none."""
    if not rates:
        return None
    middle = statistics.mean(rates)
    if len(rates) == 1:
        return Summary(middle, *wilson(round(middle * levels), levels), 1)
    student = STUDENT[len(rates) - 2] if len(rates) - 2 < len(STUDENT) else 1.96
    spread = student * statistics.stdev(rates) / math.sqrt(len(rates))
    return Summary(middle, max(0.0, middle - spread), min(1.0, middle + spread), len(rates))


def summarise_records(records: Sequence[dict[str, Any]]) -> Summary | None:
    """The success of the same cell with several seeds; None if there are no records."""
    return summarise([record["result"]["success"] for record in records])


def level_range(levels: str) -> str:
    """Ranges such as "2000:2100" as people write them: "2000–2099"."""
    ends = [part.split(":") for part in levels.split(",")]
    return ", ".join(f"{first}–{int(end) - 1}" for first, end in ends)


def values(summary: Summary | None) -> list[Any]:
    """Mean, low, high and seeds, for a row of numbers; four times None if there is no summary."""
    return [None] * 4 if summary is None else list(dataclasses.astuple(summary))


def error_bars(summaries: Sequence[Summary]) -> list[list[float]] | None:
    """How far each interval reaches below and above its mean, as matplotlib takes it; None if there are none."""
    below = [summary.mean - summary.low for summary in summaries]
    above = [summary.high - summary.mean for summary in summaries]
    return [below, above] if summaries else None


def draw_curve(axes: Axes, places: Sequence[float], summaries: Sequence[Summary | None], **style: Any) -> None:
    """A curve of means with their intervals; a place without a summary is left out."""
    measured = [(place, summary) for place, summary in zip(places, summaries, strict=True) if summary is not None]
    means, bars = [summary.mean for _, summary in measured], error_bars([summary for _, summary in measured])
    axes.errorbar([place for place, _ in measured], means, bars, marker="o", markersize=4, capsize=2, **style)


def number(value: float | None, digits: int = 2) -> str:
    """A number for a table; nothing if there is none."""
    return "" if value is None else f"{value:.{digits}f}"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def comma_separated(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """The same for programs; None is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def picture_sheet(pictures: Sequence[Image.Image], titles: Sequence[str], columns: int) -> Figure | None:
    """Pictures in rows, each under its title; None if there are none."""
    from matplotlib.figure import Figure

    if not pictures:
        return None
    rows = -(-len(pictures) // columns)
    figure = Figure(figsize=(2.2 * columns, 2.45 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for axes in panels.flat:
        axes.axis("off")
    for axes, picture, title in zip(panels.flat, pictures, titles, strict=False):
        axes.imshow(picture, interpolation="nearest")
        axes.set_title(title, fontsize="small")
    return figure


@dataclass(frozen=True, eq=False)
class Report:
    """What an experiment shows."""

    markdown: str
    csv: str | None = None
    figure: Figure | None = None

    def write(self, out: Path, name: str) -> None:
        """Write all of it to a folder, under an experiment's name."""
        out.mkdir(parents=True, exist_ok=True)
        write_bytes(out / f"{name}.md", self.markdown.encode())
        if self.csv is not None:
            write_bytes(out / f"{name}.csv", self.csv.encode())
        if self.figure is not None:
            for kind in ("png", "svg"):
                write_bytes(out / f"{name}.{kind}", figure_bytes(self.figure, kind))
