"""docs/zoo.md and its picture, from the records of benchmarks/zoo.py: `python benchmarks/zoo.py --page`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "zoo.md", DOCS / "zoo.png"


def share(record: dict[str, Any], key: str) -> str:
    """A success rate for the table."""
    judged = record.get(key)
    if judged is None:
        return ""
    return "no goal test" if "refused" in judged else f"{judged['success']:.2f}"


def is_solved(record: dict[str, Any]) -> bool:
    """Whether nearly all levels of an id are solved."""
    one_shot, full = (record.get(f"{planner} solved", {}).get("success", 0) for planner in ("one-shot", "full"))
    return one_shot >= 0.90 and full >= 0.95


def against(record: dict[str, Any]) -> str:
    """What training says against a model and, if levels are not solved, what check-env says of goals."""
    doubts = record.get("doubts", {})
    no_goals = [] if is_solved(record) else [f"{doubts[what]}." for what in ("goals seen", "mission") if what in doubts]
    return " ".join([*no_goals, *record["warnings"]])


def steps_beside_shortest(record: dict[str, Any], shortest: dict[str, float | None]) -> str:
    """Steps to the goal by the full planner, and the fewest possible if those are known."""
    steps, fewest = record.get("full solved", {}).get("steps"), shortest.get(record["name"])
    if steps is None:
        return ""
    return f"{steps:.1f}" if fewest is None else f"{steps:.1f} ({fewest:.1f})"


def table(records: list[dict[str, Any]], shortest: dict[str, float | None]) -> str:
    """The table of docs/zoo.md."""
    lines = [
        "| id | fits | levels | play | core-minutes | exact | goal test: missed, false alarms | one-shot | full | "
        "steps (shortest) | random goals (one-shot) | search on images | what check-env or training says against it |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for record in records:
        name = record["env"].removeprefix("minigrid:").removeprefix("examples.")
        chosen = [f"{key} {value}" for key, value in record["options"].items() if key != "tile_size"]
        name += f" ({', '.join(chosen)})" if chosen else ""
        if not record["fits"]:
            reason = ", ".join(record.get("refused_for", [])) or "cannot be opened"
            lines.append(f"| {name} | no: {reason} | | | | | | | | | | | {record['sentence']} |")
            continue
        if "exact" not in record:
            lines.append(f"| {name} | yes | | | | | | | | | | | {record['sentence']} |")
            continue
        test = record.get("goal_test")
        mistakes = "none" if test is None else f"{test['missed']:.2f}, {test['false_alarms']:.3f}"
        randoms = share(record, "one-shot random")
        levels = int(record["levels"].split(":")[1])
        play = "explored" if record["explored"] else "random"
        minutes = f"{record['core_seconds'] / 60:.1f}" + (
            " (after an interruption)" if record.get("interrupted") else ""
        )
        solved = " | ".join(share(record, f"{planner} solved") for planner in ("one-shot", "full"))
        lines.append(
            f"| {name} | yes | {levels} | {play} | {minutes} | {record['exact']:.3f} | {mistakes} | {solved} | "
            f"{steps_beside_shortest(record, shortest)} | {randoms} | {share(record, 'image-search solved')} | "
            f"{against(record)} |"
        )
    return "\n".join(lines)


def reach_table(records: list[dict[str, Any]]) -> str:
    """What random play and exploring see in the same number of steps, by id."""
    lines = [
        "| id | random play: levels with a goal | frames per 100 steps | "
        "exploring: levels with a goal | frames per 100 steps |",
        "|---|---|---|---|---|",
    ]
    for record in records:
        if "reach" in record:
            ways = [record["reach"][way] for way in ("random", "explore")]
            cells = " | ".join(f"{way['goals']} of {way['of']} | {way['frames'] / 4:.0f}" for way in ways)
            lines.append(f"| {record['name']} | {cells} |")
    return "\n".join(lines)


def draw_plans(records: list[dict[str, Any]]) -> None:
    """Draw where each recorded plan of the full planner begins and ends, with its actions."""
    from PIL import Image

    from pixelplan.by_name.resolve import open_family
    from pixelplan.files import write_picture
    from pixelplan.reports.pictures import sheet

    pictures, titles = [], []
    for record in records:
        if "plan" not in record:
            continue
        family = open_family(record["env"], record["options"])
        level = family.level(record["plan"]["level"])
        first, last = level.reset()[0], None
        for action in record["plan"]["actions"]:
            last = level.step(action)[0]
        shown = Image.new("RGB", (330, 160), "white")
        for place, frame in enumerate((first, first if last is None else last)):
            scale = 160 / max(frame.shape[:2])
            drawn = Image.fromarray(frame).resize(
                (round(frame.shape[1] * scale), round(frame.shape[0] * scale)), Image.Resampling.NEAREST
            )
            shown.paste(drawn, (170 * place, 0))
        pictures.append(shown)
        failed = "" if record["plan"]["solved"] else ", failed"
        titles.append(f"{record['name']}: {len(record['plan']['actions'])} steps{failed}")
    if pictures:
        write_picture(PICTURE, sheet(pictures, titles, columns=3))


def write_page(records: list[dict[str, Any]], shortest: dict[str, float | None]) -> None:
    """Put the tables into docs/zoo.md, and draw its picture."""
    text = PAGE.read_text()
    for name, lines in (("zoo", table(records, shortest)), ("play", reach_table(records))):
        begin = f"<!-- {name}: made by `python benchmarks/zoo.py --page` from results/zoo -->\n"
        end = f"<!-- end of {name} -->"
        head, rest = text.split(begin)
        text = head + begin + lines + "\n" + end + rest.split(end)[1]
    PAGE.write_text(text)
    draw_plans(records)
