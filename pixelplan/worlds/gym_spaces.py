"""What a user's environment has: images, discrete actions, and attributes of its own."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium
import numpy as np

from pixelplan.types import MOST_ACTIONS, InputError

Source = Literal["auto", "observation", "render"]


def renders(env: gymnasium.Env[Any, Any], name: str, frames: Source) -> bool:
    """Whether frames are rendered, not observed; an InputError if neither gives images."""
    space = env.observation_space
    observed = isinstance(space, gymnasium.spaces.Box) and space.dtype == np.uint8 and is_picture(space.shape)
    if frames == "observation" or (frames == "auto" and observed):
        if not observed:
            raise InputError(f"the observations of {name} are {space}; they must be uint8 [height, width, 3]")
        return False
    if env.render_mode != "rgb_array":
        raise InputError(
            f"the observations of {name} are {space}, no images, and it does not render any: make it with "
            f'render_mode="rgb_array" (it is {env.render_mode!r}) or with image observations'
        )
    return True


def is_picture(shape: tuple[int, ...]) -> bool:
    """Whether arrays of this shape can be pictures: grey, or with channels last or first."""
    return len(shape) == 2 or (len(shape) == 3 and (shape[2] in (1, 3, 4) or shape[0] in (1, 3)))


def tile_size(env: gymnasium.Env[Any, Any]) -> int | None:
    """The pixels on a side of a tile, if an environment draws tiles and says how large they are, as MiniGrid's do."""
    size = getattr(env.unwrapped, "tile_size", None)
    return size if isinstance(size, int) and size > 0 else None


def discrete_actions(env: gymnasium.Env[Any, Any], name: str) -> gymnasium.spaces.Discrete:
    """The action space; an InputError if it cannot be searched."""
    space = env.action_space
    if not isinstance(space, gymnasium.spaces.Discrete):
        raise InputError(
            f"the actions of {name} are {space}; a search needs a Discrete action space: wrap the "
            "environment so that a few numbered actions stand for those that matter"
        )
    if int(space.n) > MOST_ACTIONS:
        raise InputError(f"{name} has {space.n} actions; at most {MOST_ACTIONS} can be searched")
    return space


def attribute(env: gymnasium.Env[Any, Any], name: str) -> Any:
    """An attribute of an environment or of what it wraps; None if there is none."""
    return env.get_wrapper_attr(name) if env.has_wrapper_attr(name) else None
