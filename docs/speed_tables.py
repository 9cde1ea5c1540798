"""What docs/performance.md and docs/web.md say about speed, memory and load, from the records of benchmarks."""

from __future__ import annotations

from typing import Any

from recorded import record, record_if_made

from pixelplan.puzzles import PUZZLES


def speed() -> str:
    """What the benchmarks measured."""
    worlds, memory = record("benchmark-environments"), record("benchmark-collect-memory")
    lines = ["Measured side by side in one run (`make benchmarks`, records in `results/`):", ""]
    for name, kind in PUZZLES.items():
        measured, stepping = worlds[name], worlds[name]["stepping"]
        lines.append(
            f"- {kind.__name__}: 1000 levels made in {measured['making_1000_levels_seconds']:.1f} s; 400,000 steps "
            f"recorded in {measured['collecting']['seconds']:.1f} s; vectorised, {stepping['frames_per_second']:,.0f} "
            f"frames/s, {stepping['share_of_copying_speed']:.2f} of the speed of copying them."
        )
    lines.append(
        f"- ProcgenMaze is recorded at {worlds['collecting_against_bare_procgen']:.1f} times the rate of bare Procgen; "
        f"{memory['levels']:,} levels take {memory['peak_own_memory_mib']:.0f} MiB of the process's own memory."
    )
    peaks = record("benchmark-train-memory")["peak_own_memory_mib"]
    training = " and ".join(f"{peak:,} MiB on {int(levels):,} levels" for levels, peak in peaks.items())
    lines.append(f"- Training on ProcgenMaze takes {training} (`benchmarks/train_memory.py`).")
    beside = record("benchmark-planning-before")
    ratios = ", ".join(f"{kind.__name__} {beside['puzzles'][name]['ratio']:.2f}" for name, kind in PUZZLES.items())
    lines.append(
        f"- Plans take {ratios} times as long as before best-first search (commit {beside['before']}), and are the same"
        " (`benchmarks/planning.py --beside`)."
    )
    scaling = record("benchmark-search-scaling")
    lines.append(
        f"- A search of {scaling['nodes'][1]:,} nodes takes {scaling['ratio']:.2f} times as long a node as one of "
        f"{scaling['nodes'][0]:,}."
    )
    nodes = record("benchmark-search-nodes")
    lines.append(
        f"- A million nodes of {nodes['a million']['bytes of a state as floats'] // 4} zeros and ones take "
        f"{nodes['a million']['megabytes']} MB; packed, they are searched at "
        f"{nodes['packed against plain, without the model']:.1f} times the rate of plain floats, the model's time not "
        "counted (`benchmarks/search_nodes.py`)."
    )
    trained = nodes["trained"]["states expanded a second"]
    rates = ", ".join(f"{rate:,} {name}" for name, rate in trained.items())
    lines.append(f"- States of Boxoban's learned rules expanded in a second of processor time: {rates}.")
    growth = record("benchmark-board-size")["growth"]
    lines.append(
        f"- IceSlider of 16 × 16 instead of 8 × 8 cells: a gradient step takes {growth['gradient_step']:.1f} times as "
        f"long and training {growth['training']:.0f} times; levels have {growth['reachable_states']:.1f} times as many "
        f"states, and a search of them all takes {growth['search_of_all_states']:.1f} times as long "
        "(`benchmarks/board_size.py`)."
    )
    return "\n".join(lines)


def page(load: dict[str, Any] | None, fuzz: dict[str, Any] | None, budget: dict[str, Any] | None = None) -> str:
    """What the page withstood, from the records of load, of generated requests and of a slow network, if they exist."""
    lines = []
    if load is not None:
        alone, memory = load["milliseconds_alone"], load["memory_mb"]
        plans = ", ".join(f"{kind.__name__} {alone[f'plan {name}']['median']:.0f} ms" for name, kind in PUZZLES.items())
        lines += [
            f"- One visitor: the first page after {alone['first_page']:.0f} ms; a plan, its graph included, in {plans}",
            f"  (medians; IceSlider at worst {alone['plan ice-slider']['worst']:.0f} ms, the very first "
            f"{alone['first plan ice-slider']:.0f} ms).",
            f"- {load['clients']} visitors who play, plan and race at once for {load['seconds']:.0f} s: "
            f"{sum(kind['count'] for kind in load['milliseconds'].values()):,} requests, {load['errors']} errors; "
            f"memory {memory[0]:.0f} MB at the beginning, {memory[-1]:.0f} MB at the end.",
        ]
    if fuzz is not None:
        broken = sum(count for status, count in fuzz["answers"].items() if status >= "500")
        lines.append(
            f"- {fuzz['requests']:,} generated requests, valid and not: {broken} answers 5xx, "
            f"{fuzz['not_as_documented']} not as documented, {fuzz['files_opened_elsewhere']} files opened outside the "
            "package and Python's own."
        )
    if budget is not None:
        first, plan = budget["first_view_ms"], budget["plan_ms"]["ice-slider"]
        rate, size = budget["bytes_a_second"] / 1e6, budget["folder_bytes"] / 1e6
        lines += [
            f"- At {rate:.0f} MB/s the first view is there after {first['server'] / 1e3:.1f} s; without a server "
            f"(`--static`, {size:.0f} MB) after {first['folder'] / 1e3:.1f} s,",
            f"  and there the browser itself plans IceSlider in {plan['median']:.0f} ms (median).",
        ]
    return "\n".join(lines or ["No records yet."])


def recorded_page() -> str:
    """The same, of the records that are there."""
    return page(*(record_if_made(f"benchmark-web-{name}") for name in ("load", "fuzz", "budget")))
