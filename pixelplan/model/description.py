"""What a model's config file says about how it came to be: readable, and without paths or host names."""

from __future__ import annotations

import hashlib
import json
import platform
from typing import Any

import numpy as np
import safetensors
import torch

import pixelplan
from pixelplan.machine import commit
from pixelplan.types import Trajectories


def fingerprint(data: Trajectories) -> str:
    """A SHA-256 that stands for the data: of its manifest's checksums, or of the arrays if it has none."""
    sums = data.manifest.get("sha256")
    if sums:
        return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()
    digest = hashlib.sha256()
    for array in (data.frames, data.frame_level, data.episodes, data.actions, data.episode_level):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def describe_data(data: Trajectories) -> dict[str, Any]:
    """What is worth knowing about a data set: its puzzle, levels, size and fingerprint."""
    kept = ("env", "options", "levels", "episodes", "steps", "seed", "action_names")
    return {
        **{key: data.manifest[key] for key in kept if key in data.manifest},
        "frames": len(data.frames),
        "fingerprint": fingerprint(data),
    }


def versions() -> dict[str, str | None]:
    """The versions of the package and of everything its numbers depend on, and the commit if run from a checkout."""
    return {
        "pixelplan": pixelplan.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "safetensors": safetensors.__version__,
    }
