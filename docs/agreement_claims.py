"""What our records say about each claim of the paper: whether it agrees, differs or cannot be told, with numbers."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pixelplan.puzzles import PUZZLES

RESULTS = Path(__file__).parent / "results"
NAMES = {name: kind.__name__ for name, kind in PUZZLES.items()}
BASELINES = ("image-search", "ppo", "glamor", "dreamer")

CEILING = "ceiling: cannot tell here"
TOP = 0.95
"""With at least this success, no single part can be shown to matter."""

Claim = tuple[str, str]
"""agrees, differs or ceiling, and what was measured."""
NOT_MEASURED: Claim = ("not measured yet", "")


@dataclass(frozen=True)
class Rate:
    """A share of levels solved, and its 95 % interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.low:.2f}–{self.high:.2f})"

    def above(self, other: Rate) -> bool:
        """Whether it is higher, beyond chance: the intervals do not overlap."""
        return self.low > other.high


def rows(name: str) -> list[dict[str, str]]:
    """A table of docs/results, which comes from the records."""
    with (RESULTS / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def rate(table: str, **wanted: str | int | float) -> Rate | None:
    """What was measured in the line of a table that has these values; None if nothing was."""
    for row in rows(table):
        if row["mean"] and all(row[name] == str(value) for name, value in wanted.items()):
            return Rate(float(row["mean"]), float(row["low"]), float(row["high"]))
    return None


def by_levels(puzzle: str, planner: str = "full") -> dict[int, Rate]:
    """pixelplan's success by the number of training levels."""
    counts = sorted({int(row["training_levels"]) for row in rows("generalisation")})
    rates = {count: rate("generalisation", puzzle=puzzle, planner=planner, training_levels=count) for count in counts}
    return {count: measured for count, measured in rates.items() if measured is not None}


def papers_by_levels(puzzle: str) -> dict[int, float]:
    """The paper's success by the number of training levels."""
    reported = [row for row in rows("generalisation") if row["puzzle"] == puzzle and row["paper"]]
    return {int(row["training_levels"]): float(row["paper"]) for row in reported}


def claim(places: list[tuple[str, str, str]]) -> Claim:
    """One claim from (place, verdict, numbers) of several places; it lists all verdicts if they differ."""
    if not places:
        return NOT_MEASURED
    verdicts = list(dict.fromkeys(verdict for _, verdict, _ in places))
    text = (
        verdicts[0]
        if len(verdicts) == 1
        else "; ".join(f"{place.rstrip(':')}: {verdict}" for place, verdict, _ in places)
    )
    return text, "; ".join(f"{place} {numbers}" for place, _, numbers in places)


def worth(whole: Rate, without: Rate) -> str:
    """Whether leaving something out costs success, as the paper says."""
    if whole.above(without):
        return "agrees"
    return CEILING if without.mean >= TOP else "differs"


def full_is_best() -> Claim:
    """Compared with every baseline that was run."""
    verdicts = []
    for puzzle in PUZZLES:
        full = rate("success", method="full", puzzle=puzzle)
        theirs = {
            name: measured
            for name in BASELINES
            if (measured := rate("success", method=name, puzzle=puzzle)) is not None
        }
        if full is None or not theirs:
            return NOT_MEASURED
        best = max(theirs, key=lambda name: theirs[name].mean)
        verdict = "agrees" if full.above(theirs[best]) else "differs"
        verdicts.append((NAMES[puzzle], verdict, f"{full} against {theirs[best]} ({best})"))
    return claim(verdicts)


def ahead_of_the_paper() -> str:
    """How often pixelplan is ahead, among the cells that were run."""
    ahead, behind = 0, []
    for puzzle in PUZZLES:
        theirs = papers_by_levels(puzzle)
        for count, measured in by_levels(puzzle).items():
            if measured.mean > theirs[count]:
                ahead += 1
            else:
                behind.append(f"{NAMES[puzzle]} n = {count}: {measured} against {theirs[count]:.2f}")
    words = f"pixelplan's mean is higher in {ahead} of {ahead + len(behind)} cells run"
    return words + (f"; not in {'; '.join(behind)}" if behind else "")


def one_shot_nears_full_when_short() -> Claim:
    """The paper: near on DigitJump and IceSlider, far behind in mazes."""
    verdicts = []
    for puzzle in PUZZLES:
        full, once = (rate("success", method=planner, puzzle=puzzle) for planner in ("full", "one-shot"))
        if full is None or once is None:
            return NOT_MEASURED
        if puzzle == "procgen-maze":
            verdict = worth(full, once)
        else:
            verdict = CEILING if once.mean >= TOP else "agrees" if full.mean - once.mean < 0.25 else "differs"
        verdicts.append((NAMES[puzzle], verdict, f"{once} one-shot, {full} full"))
    return claim(verdicts)


def more_levels_help() -> Claim:
    """The fewest levels that were tried, compared with the most."""
    verdicts = []
    for puzzle in PUZZLES:
        measured = by_levels(puzzle)
        if len(measured) > 1:
            few, many = min(measured), max(measured)
            words = f"{measured[few]} with {few}, {measured[many]} with {many}"
            verdicts.append((NAMES[puzzle], worth(measured[many], measured[few]), words))
    return claim(verdicts)


def ten_levels_of_maze() -> Claim:
    """10 levels against PPO's 1000, which are the paper's."""
    measured = by_levels("procgen-maze")
    if 10 not in measured:
        return NOT_MEASURED
    words = f"pixelplan with 10 levels {measured[10]}; the paper's PPO with 1000 levels 0.667"
    return "agrees" if measured[10].low > 0.667 else "differs", words


def two_levels_of_ice() -> Claim:
    """2 levels against a search that learns nothing."""
    measured, search = by_levels("ice-slider"), rate("success", method="image-search", puzzle="ice-slider")
    if 2 not in measured or search is None:
        return NOT_MEASURED
    words = f"pixelplan with 2 levels {measured[2]}; GS on Images {search}"
    return "agrees" if measured[2].above(search) else "differs", words


def without(row: str, planner: str = "whole method") -> Callable[[], Claim]:
    """What taking something away costs: from pixelplan, by puzzle and number of training levels, and from PPGS in
    miniature."""

    def measured() -> Claim:
        places = []
        for puzzle in ("digit-jump", "procgen-maze"):
            for count in (1000, 20, 10, 5):
                whole, reduced = (
                    rate("ablation", puzzle=puzzle, training_levels=count, row=name) for name in (planner, row)
                )
                if whole is not None and reduced is not None:
                    words = f"{reduced} instead of {whole}"
                    places.append((f"{NAMES[puzzle]}, {count} levels:", worth(whole, reduced), words))
        return claim([*places, *in_miniature(row.removeprefix("one-shot, "))])

    return measured


def in_miniature(part: str) -> list[tuple[str, str, str]]:
    """What taking a part away costs PPGS in miniature."""
    planner = "one-shot" if part == "without reidentification" else "full"
    places = []
    for puzzle in PUZZLES:
        whole, reduced = (
            rate("paper-miniature", puzzle=puzzle, method=method, planner=planner)
            for method in ("PPGS", f"PPGS {part}")
        )
        if whole is not None and reduced is not None:
            words = f"{reduced} instead of {whole}"
            places.append((f"PPGS in miniature, {NAMES[puzzle]}:", worth(whole, reduced), words))
    return places


def leaves() -> Claim:
    """How many leaves a search has at its widest."""
    widest: dict[str, float] = {}
    for row in rows("fringe"):
        widest[row["search"]] = max(widest.get(row["search"], 0.0), float(row["leaves"]))
    if len(widest) < 2:
        return NOT_MEASURED
    few, many = widest["with reidentification"], widest["without reidentification"]
    words = f"at most {few:.1f} leaves per layer (mean) with it, {many:.0f} (the cut) without"
    return "agrees" if few < many / 4 else "differs", words


def own_play() -> Claim:
    """(C) against (B), halfway through training and at its end."""
    verdicts = []
    for share, title in ((0.5, "half of training"), (1.0, "all of it")):
        random, by_planner = (rate("on-policy", data=data, share=share) for data in ("B", "C"))
        if random is None or by_planner is None:
            return NOT_MEASURED
        verdicts.append((f"{title}:", worth(by_planner, random), f"B {random}, C {by_planner}"))
    return claim(verdicts)


def miniature() -> Claim:
    """PPGS itself on small boards, beside a search that learns nothing."""
    verdicts = []
    for puzzle in PUZZLES:
        full, once, search = (
            rate("paper-miniature", puzzle=puzzle, method=method, planner=planner)
            for method, planner in (("PPGS", "full"), ("PPGS", "one-shot"), ("GS on Images", "which learns nothing"))
        )
        if full is None or once is None or search is None:
            continue
        verdict = "agrees" if full.mean >= 0.9 and full.above(search) else "differs"
        verdicts.append((NAMES[puzzle], verdict, f"{full} full, {once} one-shot, {search} GS on Images"))
    return claim(verdicts)
