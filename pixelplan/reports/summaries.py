"""Episodes, evaluations and trained models in a few lines for people."""

from __future__ import annotations

from typing import Any

from pixelplan.envs.family import Challenge
from pixelplan.evaluation.result import Result
from pixelplan.evaluation.stats import mean
from pixelplan.model.checkpoint import CONFIG
from pixelplan.planning.plan import Episode
from pixelplan.types import InputError


def story(challenge: Challenge, episode: Episode) -> str:
    """What happened in a level, in a sentence or two."""
    moves = ", ".join(challenge.action_names[action] for action in episode.actions) or "none"
    if challenge.shortest is not None:
        best = f" ({challenge.shortest} would do)"
    else:  # only tables can say that there is none
        best = "" if challenge.level is None else " (there is no solution)"
    outcome = {
        "solved": "solved",
        "steps": "not solved: out of steps",
        "exhausted": "not solved: everything that can be reached was tried, and the goal is not there",
        "plan over": "not solved: the plan did not lead to the goal",
    }[episode.ended]
    if episode.ended == "plan over" and episode.plans and not episode.plans[-1].reached:
        outcome = "not solved: the goal was not found"
    chance = episode.plans[0].chance if episode.plans else None
    sure = "" if chance is None else f"\nthe first plan was predicted to succeed with a chance of {chance:.3f}"
    return (
        f"level {challenge.number}: {outcome} after {len(episode.actions)} steps{best}, {episode.replans} replans, "
        f"{1e3 * episode.seconds:.0f} ms of planning\nmoves: {moves}{sure}"
    )


def summarise_evaluation(result: Result) -> str:
    """An evaluation in a few lines for people."""
    episodes = result.episodes
    solved = [episode for episode in episodes if episode.solved]
    low, high = result.interval
    by = f"{result.planner} with {result.model}" if result.model else result.planner
    lines = [
        f"{result.env}, {by}: solved {len(solved)} of {len(episodes)} levels, {result.success:.3f} "
        f"(95 % interval {low:.3f} to {high:.3f})"
    ]
    steps = mean([episode.steps for episode in solved])
    shortest = mean([episode.shortest for episode in solved if episode.shortest is not None])
    if result.optimal is not None and steps is not None and shortest is not None:
        lines.append(f"  optimal {result.optimal:.3f} of the solved; {steps:.1f} steps, and {shortest:.1f} would do")
    if result.seconds_per_plan is not None:
        replans, nodes = mean([episode.replans for episode in episodes]), mean([episode.nodes for episode in episodes])
        lines.append(
            f"  {1e3 * result.seconds_per_plan:.1f} ms per plan; per level {replans:.2f} replans, {nodes:.0f} nodes"
        )
    chances = [episode.chance for episode in episodes if episode.chance is not None]
    if chances:
        lines.append(f"  predicted chance of the first plans: {sum(chances) / len(chances):.3f} on average")
    failed = [str(episode.level) for episode in episodes if not episode.solved and episode.error is None]
    if failed:
        lines.append(f"  not solved: {', '.join(failed[:20])}{', …' if len(failed) > 20 else ''}")
    raised = [episode for episode in episodes if episode.error is not None]
    if raised:
        lines.append(f"  raised: {len(raised)} levels, first {raised[0].level}: {raised[0].error}")
    return "\n".join(lines)


def summarise_training(description: dict[str, Any]) -> list[str]:
    """What training found, from a model's description, in lines for people; warnings come last.

    An InputError if it is not in the form that training writes.
    """
    try:
        return _training_lines(description)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{CONFIG} is damaged: what training found cannot be read; train the model again") from None


def _training_lines(description: dict[str, Any]) -> list[str]:
    facts, measured = description.get("findings"), description.get("validation_metrics", {})
    if not isinstance(facts, dict):
        return []
    rows, columns = facts["lattice"]
    lattice = f" on a lattice of {rows} × {columns}" if rows * columns > 1 else ""
    rollouts = ", ".join(f"{share:.3f} after {steps}" for steps, share in measured.get("rollouts", {}).items())
    lines = [
        f"family {facts['family']}{lattice}; {facts['merged_by_family']} of {facts['held_out_frames']} held-out frames "
        "merged with others by the family",
        f"on {measured['levels']} held-out levels: {measured['exact']:.4f} of steps predicted exactly, "
        f"{measured['one_step_accuracy']:.4f} also within the threshold; rollouts still right: {rollouts}",
        f"recorded play gets {facts['play_reaches']['median']:.0f} steps from the start (median of levels; at most "
        f"{facts['play_reaches']['most']}); {_goals_words(facts.get('goals_seen'))}",
    ]
    if "goal_test" in facts:
        lines += [
            summarise_goal_test(facts["goal_test"]),
            *_rehearsal_words(facts),
            *facts.get("goal_test_warnings", []),
        ]
    if "race" in description:
        entered = ", ".join(
            f"{entry.get('name', entry['family'])} {'cannot' if 'problem' in entry else format(entry['score'], '.4f')}"
            for entry in description["race"]
        )
        lines.insert(0, f"race (score): {entered}")
    return lines + [f"warning: {sentence}" for sentence in facts["warnings"]]


def _rehearsal_words(facts: dict[str, Any]) -> list[str]:
    """How many plans were found in held-out levels."""
    plans = facts.get("rehearsal")
    return [] if plans is None else [f"rehearsal: {plans['found']} plans found in {plans['levels']} held-out levels"]


def _goals_words(seen: dict[str, Any] | None) -> str:
    """How far play got compared with how far away goals are, as the second half of a sentence."""
    if seen is None:
        return "goals much farther away may need longer play"
    if not seen["levels"]:
        return f"it solved none of {seen['of']} levels: goals may need longer play, or collect --explore"
    return f"it solved {seen['levels']} of {seen['of']} levels, {seen['steps']:.0f} steps from the start (median)"


def summarise_goal_test(report: dict[str, Any] | None) -> str:
    """How good the goal test is, from its report."""
    if report is None:
        return "goal test: none, because nothing in the recorded play solved a level and no picture shows a goal"
    missed = "none to miss" if report["missed"] is None else f"{report['missed']:.1%} of solved states missed"
    where = "held-out" if report["held_out"] else "training"
    return (
        f"goal test: {missed}, {report['false_alarms']:.2%} false alarms, on {report['levels']} {where} levels; "
        f"learned from {report['trained_on']} levels that play had solved"
        + (f" and {report['pictures']} goal pictures that it had not reached" if report.get("pictures") else "")
    )
