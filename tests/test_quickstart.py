"""The notebook runs from top to bottom and solves its level."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")

NOTEBOOK = Path(__file__).parents[1] / "examples" / "quickstart.ipynb"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's own
def test_quickstart_runs_and_solves_its_level() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "store the notebook without outputs"
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    assert cells["plan"].outputs[-1]["data"]["text/plain"] == "True"
    assert cells["judge"].outputs[-1]["data"]["text/plain"].startswith("(1.0, ")
    assert any("image/png" in output.get("data", {}) for output in cells["look"].outputs)
