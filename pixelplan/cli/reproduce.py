"""The paper's tables and figures, ours beside the paper's."""

from __future__ import annotations

from pathlib import Path


def reproduce(
    name: str,
    /,
    *,
    run: bool = False,
    dry_run: bool = False,
    check: bool = False,
    puzzles: str | None = None,
    levels: str | None = None,
    seeds: str = "0,1,2",
    preset: str = "spatial",
    full_size: bool = False,
    test_levels: str = "2000:2100",
    threads: int = 1,
    ray: str | None = None,
    retries: int = 2,
    results: Path = Path("results"),
    out: Path = Path("docs/results"),
    runs: Path = Path("runs"),
) -> None:
    """Show one of the paper's tables or figures from the existing records: success, generalisation, ablation,
    paper-miniature, on-policy, fringe, failures or trajectories, or one that goes beyond the paper: noise, boards or
    transfer. With --run, first make the missing records.

    Finished work is never run again, and interrupted work continues. If you start the same command a second time while
    the first is running, the two share the work.

    Example: pixelplan reproduce generalisation --run --puzzles ice-slider --levels 10,100 --seeds 0

    Args:
        name: The experiment.
        run: Run the cells without a record: collect, train and evaluate.
        check: Measure a few of the recorded cells again, with the models stored in the runs folder, and say whether
            they agree with their records; with --run, models that are not stored are trained again. The exit code is
            1 if any differs.
        dry_run: List the cells and their states, and do nothing else.
        puzzles: The puzzles to run, separated by commas; by default all that the experiment has.
        levels: The numbers of training levels to run, separated by commas; by default all that the experiment has.
        seeds: The training seeds to run, separated by commas.
        preset: The world model.
        full_size: For paper-miniature: the paper's own networks, boards and number of steps, for a GPU.
        test_levels: The levels on which success is measured, A:B, B excluded.
        threads: Processor cores for each training run.
        ray: Run the cells on a ray cluster: its address, or auto for the one that is running here, else a new one.
        retries: On a cluster, how many times a failed cell is tried again.
        results: The folder with the records.
        out: The folder to write the table (.md, .csv) and the figure (.png, .svg) to.
        runs: The folder for data, models and unfinished work.
    """
    import sys

    from pixelplan.cli.options import parse_numbers
    from pixelplan.experiments.check_records import check_cells
    from pixelplan.experiments.registry import experiment
    from pixelplan.experiments.reproduce import Places, check_selection, listing, run_cells, show
    from pixelplan.experiments.selection import Selection
    from pixelplan.types import InputError

    module = experiment(name)
    selection = Selection(
        seeds=parse_numbers(seeds, "seeds"),
        levels=None if levels is None else parse_numbers(levels, "levels"),
        preset=preset,
        full_size=full_size,
        test_levels=test_levels,
    )
    if puzzles is not None:
        selection = Selection(**{**vars(selection), "puzzles": tuple(puzzles.split(","))})
    check_selection(selection)
    if threads < 1 or retries < 0:
        raise InputError(f"threads is {threads} and retries is {retries}; they must be at least 1 and 0")
    places = Places(results, out, runs)
    if dry_run:
        print(listing(module.cells(selection), places))
        return
    if check:
        checked = check_cells(module.cells(selection), results, runs, threads, retrain=run)
        print("\n".join(map(str, checked)))
        if any(cell.verdict == "differs" for cell in checked):
            sys.exit(1)
        return
    failures = run_cells(module.cells(selection), places, threads, ray, retries) if run else []
    try:
        print(show(name, module, selection, places))
    except (InputError, OSError):
        if not failures:  # otherwise the failures are the reason
            raise
    if failures:
        first = failures[0]
        print(f"pixelplan: {len(failures)} cells failed, first {first.cell.name}: {first.reason}", file=sys.stderr)
        sys.exit(1)
