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
    for name in ("pixelplan.train", "pixelplan.types.Plan", "pixelplan.planning.one_shot.OneShotConfig"):
        assert f'id="{name}"' in python, name
