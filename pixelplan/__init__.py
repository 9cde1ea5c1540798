"""Plan from pixels through graph search.

Importing this registers `pixelplan/IceSlider-v0`, `pixelplan/DigitJump-v0` and `pixelplan/ProcgenMaze-v0`.
"""

from pixelplan.data.collect import collect
from pixelplan.data.dataset import open_trajectories
from pixelplan.types import InputError

__version__ = "0.1.0"

__all__ = ["InputError", "__version__", "collect", "open_trajectories"]
