"""docs/agreement.md: the paper's claims beside what our records say, in plain words. Run by `make results`."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pixelplan.experiments.tables import markdown
from pixelplan.puzzles import PUZZLES

RESULTS = Path(__file__).parent / "results"
NAMES = {name: kind.__name__ for name, kind in PUZZLES.items()}

CEILING = "ceiling: cannot tell here"
TOP = 0.95
"""From here on success leaves no room in which a part could show its worth."""

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
    """Against all that was run."""
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
    """In each cell that was run."""
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
    """Until they are enough."""
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

    def found() -> Claim:
        places = []
        for puzzle in ("digit-jump", "procgen-maze"):
            for count in (1000, 20, 10, 5):
                whole, less = (
                    rate("ablation", puzzle=puzzle, training_levels=count, row=name) for name in (planner, row)
                )
                if whole is not None and less is not None:
                    words = f"{less} instead of {whole}"
                    places.append((f"{NAMES[puzzle]}, {count} levels:", worth(whole, less), words))
        return claim([*places, *in_miniature(row.removeprefix("one-shot, "))])

    return found


def in_miniature(part: str) -> list[tuple[str, str, str]]:
    """What taking a part away costs PPGS in miniature."""
    planner = "one-shot" if part == "without reidentification" else "full"
    places = []
    for puzzle in PUZZLES:
        whole, less = (
            rate("paper-miniature", puzzle=puzzle, method=method, planner=planner)
            for method in ("PPGS", f"PPGS {part}")
        )
        if whole is not None and less is not None:
            words = f"{less} instead of {whole}"
            places.append((f"PPGS in miniature, {NAMES[puzzle]}:", worth(whole, less), words))
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
    """(C) against (B), half way and in the end."""
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


def papers_networks() -> str:
    """What stands in the way of PPGS in miniature, if it solves too little."""
    said = []
    for row in rows("paper-miniature"):
        if (row["method"], row["planner"]) != ("PPGS", "full") or not row["updates"] or float(row["mean"]) >= 0.9:
            continue
        calibrated = rate(
            "paper-miniature", puzzle=row["puzzle"], method="PPGS with a calibrated threshold", planner="full"
        )
        words = (
            f"On {NAMES[row['puzzle']]}, after {float(row['updates']):,.0f} gradient steps (the paper: 125,000), "
            f"{float(row['exact']):.3f} of the steps in held-out levels are predicted nearest to the right state. But "
            f"only nine in ten predictions are within {float(row['error']):.2f} of it, and the paper takes two "
            f"embeddings for the same state if they are nearer than {float(row['threshold']):.2f}. Errors add up, too: "
            f"after ten predicted steps {float(row['hits_at_10']):.2f} are still nearest to the right state."
        )
        said.append(words + ("" if calibrated is None else f" A calibrated threshold solves {calibrated}."))
    if not said:
        return ""
    return (
        "\n**PPGS in miniature is not at nine in ten.** " + " ".join(said) + " Whether more gradient steps would be "
        "enough was not measured: the loss was still falling while the learning rate fell to zero, and a step costs "
        "what [the table](results/paper-miniature.md) says. What was tried is in `results/paper-trials.md`.\n"
    )


BASELINES = ("image-search", "ppo", "glamor", "dreamer")
CLAIMS: dict[str, Callable[[], Claim]] = {
    "PPGS learns to solve nine unseen levels in ten (its own networks, in miniature)": miniature,
    "More unseen levels are solved than by every baseline": full_is_best,
    "One-shot planning comes near the full planner on short paths, and is far behind in mazes": (
        one_shot_nears_full_when_short
    ),
    "More training levels help, and few are enough to generalise": more_levels_help,
    "In mazes, 10 levels are worth as much as 1000 are to PPO": ten_levels_of_maze,
    "On IceSlider, 2 levels are enough to beat GS on Images": two_levels_of_ice,
    "The inverse model is crucial": without("without inverse model"),
    "The forward model needs the context: without it DigitJump falls sharply, mazes less": (
        without("with fully latent forward model")
    ),
    "Without the lookup table the full planner solves less": without("without lookup table"),
    "Without reidentification one-shot solves only easy levels": without(
        "one-shot, without reidentification", "one-shot, with reidentification"
    ),
    "Reidentification keeps the number of leaves small": leaves,
    "Learning from the planner's own play is worth more than the random play it is added to": own_play,
}

PAGE = """# What agrees with the paper, and what does not

Made by `make results` from the records behind [docs/results](results/success.md). PPGS is the paper's system; every
number below is pixelplan's, on unseen levels 2000–2099, unless it says otherwise, with its 95 % interval. *Agrees*:
the difference that the paper reports is there, and the intervals do not overlap. *Differs*: there was room for a
difference, but there is none, or none beyond chance. *Ceiling*: nearly everything is solved either way, so
nothing can be said.

{table}
Compared with the paper's PPGS, over the numbers of training levels
([generalisation](results/generalisation.md)): {ahead}.

## Why
{networks}
**The numbers are higher because the world model is a different one.** The paper's encoder is a ResNet that flattens its
features into 16 numbers. Ours says *where* on a grid the agent is and reads from one picture of the level where each
action leads from each cell ([world-model.md](world-model.md)). What it learns about one place holds for all, so it
needs fewer levels and fewer steps of training, and its predictions stay right over many steps.

**That is also why parts that the paper needs matter less here.** The full planner, the lookup table and the replanning
repair a model that is wrong; if one look is enough, there is little to repair. So differences between rows shrink
towards the top, and a row that the paper puts far below may be level with the others. The inverse model and the
margin keep embeddings of different states apart; our encoder is also told to look where the frames of a level differ,
which does part of the same work.

**What is measured is the same; how it is decided is stricter.** Levels have the same numbers as in the paper, and the
test levels are the same. We do not tell the search how long the shortest solution is (the paper's code does), success
is what the environment reports, and thresholds are calibrated without test levels.

**What cannot be compared.** The paper's PPO had 50 million steps, GLAMOR 2 million and DreamerV2 4 million, on GPUs;
[success](results/success.md) lists the steps of ours, and fewer steps make a weaker baseline. The paper reports
GS on Images and the number of leaves as pictures only. Its numbers for n = 1000 differ between its tables (0.91 and
0.90 in mazes); we show each next to the row it belongs to. GLAMOR's lenient rule, by which an end near the goal
counts too, has a row of its own.

**What a seed is.** The paper averages three seeds. Tables here say how many were run; if only one was, the interval is
over levels, and says nothing about how different another training run would be.
"""


def page() -> str:
    """The page."""
    rows = [(words, *measured()) for words, measured in CLAIMS.items()]
    return PAGE.format(
        table=markdown(("the paper says", "here", "what was measured"), rows),
        ahead=ahead_of_the_paper(),
        networks=papers_networks(),
    )


if __name__ == "__main__":
    (Path(__file__).parent / "agreement.md").write_text(page())
