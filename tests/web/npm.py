"""Packages of the npm registry, fetched once for all tests by npm itself."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest


def fetch(package: str, folder: Path) -> Path:
    """The archive of a package; the test is skipped if npm is missing or the registry out of reach."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    archives = sorted(folder.glob(f"{package.split('@')[0]}-*.tgz"))
    if done.returncode or not archives:
        pytest.skip(f"npm could not fetch {package}")
    return archives[-1]


def read(archive: Path, name: str) -> str:
    """A text file of a package."""
    with tarfile.open(archive) as opened:
        member = opened.extractfile(f"package/{name}")
        assert member is not None
        return member.read().decode()
