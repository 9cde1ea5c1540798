"""The wheel holds all it needs and works outside the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pixelplan

ROOT = Path(__file__).parent.parent


def test_wheel_is_complete_and_works_elsewhere(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("pixelplan-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"pixelplan/py.typed", "pixelplan/puzzles/digits.npy"} <= set(names)
    tracked = subprocess.run(["git", "ls-files", "pixelplan"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert set(tracked) <= set(names)
    script = (
        f"import sys; sys.path.insert(0, {str(wheel)!r})\n"
        "import zipfile; zipfile.ZipFile(sys.path[0]).extractall('unpacked'); sys.path[0] = 'unpacked'\n"
        "import pixelplan; assert 'unpacked' in pixelplan.__file__\n"
        "data = pixelplan.collect('digit-jump', '0:2', 'data', episodes=2); print(len(data.episodes))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout == "4\n", result.stderr


def test_version_is_one() -> None:
    assert pixelplan.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {pixelplan.__version__}\n" in (ROOT / "CITATION.cff").read_text()
