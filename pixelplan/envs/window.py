"""A window that shows frames, for `render_mode="human"`."""

from __future__ import annotations

import numpy as np
from matplotlib import pyplot


class Window:
    """One figure, one image in it; each frame stays for `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._figure, axes = pyplot.subplots(num="pixelplan", figsize=(5, 5), clear=True)
        axes.set_axis_off()
        self._image = axes.imshow(np.zeros((1, 1, 3), np.uint8), interpolation="nearest")

    def show(self, frame: np.ndarray) -> None:
        """Show a frame [H,W,3]."""
        height, width, _ = frame.shape
        self._image.set(data=frame, extent=(0, width, height, 0))
        if pyplot.get_backend().lower() != "agg":  # without a screen there is nobody to wait for
            pyplot.pause(self._seconds)

    def close(self) -> None:
        """Close the window."""
        pyplot.close(self._figure)
