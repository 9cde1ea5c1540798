"""docs/agreement.md: the paper's claims beside what our records say, in plain words. Run by `make results`."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from pixelplan.envs import PUZZLES

RESULTS = Path(__file__).parent / "results"
NAMES = {name: kind.__name__ for name, kind in PUZZLES.items()}

Claim = tuple[str, str]
"""agrees, differs, or partly; and what was measured."""
NOT_YET: Claim = ("not measured yet", "")


def rows(name: str) -> list[dict[str, str]]:
    """A table of docs/results, which comes from the records; empty if there is none."""
    path = RESULTS / f"{name}.csv"
    with path.open() as file:
        return list(csv.DictReader(file))


def success(method: str, puzzle: str) -> float | None:
    """Our mean in the comparison of success rates."""
    found = [row for row in rows("success") if (row["method"], row["puzzle"]) == (method, puzzle)]
    return float(found[0]["mean"]) if found and found[0]["mean"] else None


def by_levels(puzzle: str, planner: str = "full") -> dict[int, float]:
    """Our mean by the number of training levels."""
    return {
        int(row["training_levels"]): float(row["mean"])
        for row in rows("generalisation")
        if (row["puzzle"], row["planner"]) == (puzzle, planner) and row["mean"]
    }


def papers_by_levels(puzzle: str) -> dict[int, float]:
    """The paper's success by the number of training levels."""
    found = [row for row in rows("generalisation") if row["puzzle"] == puzzle and row["paper"]]
    return {int(row["training_levels"]): float(row["paper"]) for row in found}


def ablation(puzzle: str, row: str) -> float | None:
    """Our mean in the table of ablations."""
    found = [one for one in rows("ablation") if (one["puzzle"], one["row"]) == (puzzle, row)]
    return float(found[0]["mean"]) if found and found[0]["mean"] else None


def verdict(agreeing: list[bool]) -> str:
    """agrees, differs or partly."""
    return "agrees" if all(agreeing) else "partly" if any(agreeing) else "differs"


def listed(values: dict[str, str]) -> str:
    """What was found on each puzzle."""
    return "; ".join(f"{NAMES[name]} {value}" for name, value in values.items())


def full_is_best() -> Claim:
    """Against all that was run."""
    others = [method for method in ("image-search", "ppo", "glamor", "dreamer")]
    agreeing, values = [], {}
    for puzzle in PUZZLES:
        full = success("full", puzzle)
        theirs = {method: rate for method in others if (rate := success(method, puzzle)) is not None}
        if full is None or not theirs:
            return NOT_YET
        agreeing.append(full > max(theirs.values()))
        best = max(theirs, key=lambda method: theirs[method])
        values[puzzle] = f"{full:.3f} against {theirs[best]:.3f} ({best}, the best of {', '.join(theirs)})"
    return verdict(agreeing), listed(values)


def ahead_of_the_paper() -> Claim:
    """In each cell that was run."""
    ahead, behind = 0, []
    for puzzle in PUZZLES:
        theirs = papers_by_levels(puzzle)
        for count, rate in by_levels(puzzle).items():
            if rate > theirs[count]:
                ahead += 1
            else:
                behind.append(f"{NAMES[puzzle]} n = {count}: {rate:.2f} against {theirs[count]:.2f}")
    words = f"ours is higher in {ahead} of {ahead + len(behind)} cells run"
    return ("higher" if not behind else "mostly higher"), words + (f"; not in {'; '.join(behind)}" if behind else "")


def one_shot_nears_full_when_short() -> Claim:
    """The paper: near on DigitJump and IceSlider, far behind in mazes."""
    values, gaps = {}, {}
    for puzzle in PUZZLES:
        full, once = success("full", puzzle), success("one-shot", puzzle)
        if full is None or once is None:
            return NOT_YET
        gaps[puzzle] = full - once
        values[puzzle] = f"{once:.3f} one-shot, {full:.3f} full"
    return verdict([gaps["ice-slider"] < 0.2, gaps["digit-jump"] < 0.25, gaps["procgen-maze"] > 0.3]), listed(values)


def more_levels_help() -> Claim:
    """Until they are enough."""
    values, agreeing = {}, []
    for puzzle in PUZZLES:
        found = by_levels(puzzle)
        if len(found) > 1:
            few, many = min(found), max(found)
            agreeing.append(found[many] >= found[few])
            values[puzzle] = f"{found[few]:.2f} with {few} levels, {found[many]:.2f} with {many}"
    return (verdict(agreeing), listed(values)) if values else NOT_YET


def ten_levels_of_maze() -> Claim:
    """PPGS with 10 levels against PPO with 1000, which is the paper's."""
    found = by_levels("procgen-maze")
    if 10 not in found:
        return NOT_YET
    return verdict([found[10] >= 0.667]), f"ours with 10 levels {found[10]:.2f}; the paper's PPO with 1000 levels 0.667"


def two_levels_of_ice() -> Claim:
    """PPGS with 2 levels against a search that learns nothing."""
    found, search = by_levels("ice-slider"), success("image-search", "ice-slider")
    if 2 not in found or search is None:
        return NOT_YET
    return verdict([found[2] > search]), f"ours with 2 levels {found[2]:.2f}; GS on Images {search:.2f}"


def worth(row: str, loss: float) -> Callable[[], Claim]:
    """What taking something away costs, on both puzzles of the table; it agrees where it costs at least `loss`."""

    def claim() -> Claim:
        values, agreeing = {}, []
        for puzzle in ("digit-jump", "procgen-maze"):
            ours, without = ablation(puzzle, "our method"), ablation(puzzle, row)
            if ours is not None and without is not None:
                agreeing.append(ours - without >= loss)
                values[puzzle] = f"{without:.2f} instead of {ours:.2f}"
        return (verdict(agreeing), listed(values)) if values else NOT_YET

    return claim


def lookup() -> Claim:
    """The paper: without it the full planner is no better than one-shot."""
    values, agreeing = {}, []
    for puzzle in ("digit-jump", "procgen-maze"):
        without, once = ablation(puzzle, "without lookup table"), ablation(puzzle, "one-shot, with reidentification")
        if without is not None and once is not None:
            agreeing.append(abs(without - once) < 0.2)
            values[puzzle] = f"{without:.2f} without lookup, {once:.2f} one-shot"
    return (verdict(agreeing), listed(values)) if values else NOT_YET


def leaves() -> Claim:
    """How many leaves a search has at its widest."""
    widest: dict[str, float] = {}
    for row in rows("fringe"):
        widest[row["search"]] = max(widest.get(row["search"], 0.0), float(row["leaves"]))
    if len(widest) < 2:
        return NOT_YET
    few, many = widest["with reidentification"], widest["without reidentification"]
    return verdict([few < many / 4]), f"at most {few:.1f} leaves a layer (mean) with it, {many:.0f} (the cut) without"


def own_play() -> Claim:
    """(C) against (B), half way and in the end."""
    found = {(row["data"], row["share"]): float(row["mean"]) for row in rows("on-policy") if row["mean"]}
    if len(found) < 6:
        return NOT_YET
    words = "; ".join(
        f"{title}: A {found['A', share]:.2f}, B {found['B', share]:.2f}, C {found['C', share]:.2f}"
        for share, title in (("0.5", "half of training"), ("1.0", "all of it"))
    )
    return verdict([found["C", share] > found["B", share] + 0.05 for share in ("0.5", "1.0")]), words


CLAIMS: dict[str, Callable[[], Claim]] = {
    "PPGS solves more unseen levels than every baseline": full_is_best,
    "One-shot planning comes near the full planner on short ways, and is far behind in mazes": (
        one_shot_nears_full_when_short
    ),
    "More training levels help, and few are enough to generalise": more_levels_help,
    "In mazes, 10 levels are worth as much as 1000 are to PPO": ten_levels_of_maze,
    "On IceSlider, 2 levels are enough to beat GS on Images": two_levels_of_ice,
    "The inverse model is crucial": worth("without inverse model", 0.2),
    "The forward model needs the context: without it DigitJump falls sharply, mazes less": (
        worth("with fully latent forward model", 0.05)
    ),
    "Without the lookup table the full planner is hardly better than one-shot": lookup,
    "Without reidentification one-shot solves only easy levels": worth("one-shot, without reidentification", 0.3),
    "Reidentification keeps the number of leaves small": leaves,
    "Learning from the planner's own play is worth more than the random play it is added to": own_play,
}

PAGE = """# What agrees with the paper, and what does not

Made by `make results` from the records behind [docs/results](results/success.md); every number below is ours, on unseen
levels 2000–2099, unless it says otherwise.

{table}
Beside the paper's own PPGS, by the number of training levels
([generalisation](results/generalisation.md)): {ahead}.

## Why

**The numbers are higher because the world model is another one.** The paper's encoder is a ResNet that flattens its
features into 16 numbers. Ours says *where* on a grid the agent is and reads from one picture of the level where each
action leads from each cell ([world-model.md](world-model.md)). What it learns of one place it knows of all, so it needs
fewer levels and fewer steps of training, and its predictions stay right over many steps.

**That is also why parts that the paper needs matter less here.** The full planner, the lookup table and the replanning
repair a model that is wrong; where one look is enough, there is little to repair. So differences between rows shrink
towards the top, and a row that the paper puts far below may stand level with the others. The inverse model and the
margin keep embeddings of different states apart; our encoder is also told to look where the frames of a level differ,
which does part of the same work.

**What is measured is the same; how it is decided is stricter.** Levels carry the paper's numbers and test levels are
the paper's. We do not tell the search how long the shortest solution is (the paper's code does), success is what the
environment reports, and thresholds are calibrated without test levels.

**What cannot be compared.** The paper's PPO had 50 million steps, GLAMOR 2 million and DreamerV2 4 million, on GPUs;
what ours were given stands in [success](results/success.md), and fewer steps make a weaker baseline. The paper reports
GS on Images and the number of leaves as pictures only. Its numbers for n = 1000 differ between its tables (0.91 and
0.90 in mazes); we show each beside the row it belongs to. GLAMOR's rule that near the goal counts is shown in
a row of its own.

**What a seed is.** The paper averages three seeds. Tables here say how many were run; with one seed the interval is
over levels and says nothing about how much another training would differ.
"""


def page() -> str:
    """The page."""
    lines = ["| the paper says | here | what was measured |", "|---|---|---|"]
    for words, claim in CLAIMS.items():
        said, found = claim()
        lines.append(f"| {words} | {said} | {found} |")
    return PAGE.format(table="\n".join(lines) + "\n", ahead=ahead_of_the_paper()[1])


if __name__ == "__main__":
    (Path(__file__).parent / "agreement.md").write_text(page())
