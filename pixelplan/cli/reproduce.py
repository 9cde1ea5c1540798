"""The paper's tables and figures, ours beside the paper's: `pixelplan reproduce success` and so on."""

from __future__ import annotations

from pathlib import Path


def success(*, results: Path = Path("results"), out: Path = Path("docs/results")) -> None:
    """The comparison of success rates, from the records in a folder: prints the table and writes it with a bar chart.

    Example: pixelplan reproduce success

    Args:
        results: The folder with the records, in its folders main and baselines.
        out: The folder to write success.md, .csv, .png and .svg to.
    """
    from pixelplan.experiments.success import reproduce_success

    print(reproduce_success(results, out))


REPRODUCTIONS = (success,)
"""What stands under `pixelplan reproduce`."""
