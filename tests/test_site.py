"""The documentation builds as a site without a broken link, and its reference is complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pixelplan.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")


def build(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """`make docs` into another folder."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(config), "-d", str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_site_builds_without_a_broken_link(tmp_path: Path) -> None:
    built = build(ROOT / "mkdocs.yml", tmp_path / "site")
    assert built.returncode == 0, built.stderr
    commands = (tmp_path / "site" / "reference" / "commands.html").read_text()
    for command in COMMANDS:
        assert f"pixelplan {command.__name__.replace('_', '-')}" in commands
    python = (tmp_path / "site" / "reference" / "python.html").read_text()
    for name in ("pixelplan.train", "pixelplan.planning.plan.Plan", "pixelplan.planning.one_shot.OneShotConfig"):
        assert f'id="{name}"' in python, name


def test_links_out_of_the_site_are_resolved_and_broken_ones_stay() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    from site_hooks import resolve_links

    page = Path("results/noise.md")
    assert resolve_links("[`noise.py`](../../pixelplan/worlds/noise.py)", page) == "`noise.py`"
    assert resolve_links("[the code](../../pixelplan/types.py)", page) == "the code (`pixelplan/types.py`)"
    assert resolve_links("[here](../../CONTRIBUTING.md#x)", page) == "[here](../contributing.md#x)"
    for kept in ("[x](../../pixelplan/nowhere.py)", "[x](success.md)", "![x](../../LICENSE)", "[x](https://x.org/a)"):
        assert resolve_links(kept, page) == kept
