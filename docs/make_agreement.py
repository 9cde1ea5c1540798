"""docs/agreement.md: the paper's claims beside what our records say, in plain words. Run by `make results`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agreement_claims import (
    NAMES,
    Claim,
    ahead_of_the_paper,
    full_is_best,
    leaves,
    miniature,
    more_levels_help,
    one_shot_nears_full_when_short,
    own_play,
    rate,
    rows,
    ten_levels_of_maze,
    two_levels_of_ice,
    without,
)

from pixelplan.experiments.tables import markdown

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


def papers_networks() -> str:
    """What stands in the way of PPGS in miniature, if it solves too little."""
    reasons = []
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
        reasons.append(words + ("" if calibrated is None else f" A calibrated threshold solves {calibrated}."))
    if not reasons:
        return ""
    return (
        f"\n**PPGS in miniature does not solve nine levels in ten.** {' '.join(reasons)} Whether more gradient steps "
        "would be enough was not measured: the loss was still falling while the learning rate fell to zero, and a step "
        "costs what [the table](results/paper-miniature.md) says. What was tried is in `results/paper-trials.md`.\n"
    )


def page() -> str:
    """The page."""
    table = [(words, *measured()) for words, measured in CLAIMS.items()]
    return PAGE.format(
        table=markdown(("the paper says", "here", "what was measured"), table),
        ahead=ahead_of_the_paper(),
        networks=papers_networks(),
    )


if __name__ == "__main__":
    (Path(__file__).parent / "agreement.md").write_text(page())
