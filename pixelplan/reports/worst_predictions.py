"""The worst predictions of a model on recorded play: before, predicted, true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from pixelplan.model.batches import LevelPlay
from pixelplan.model.metrics import predict_steps
from pixelplan.model.world_model import WorldModel

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure


@dataclass(frozen=True, eq=False)
class Miss:
    """One step, as it was and as it was predicted."""

    before: np.ndarray
    """[H,W,3] uint8."""
    action: int
    predicted: np.ndarray
    """[H,W,3] uint8: the prediction drawn, or the level's frame nearest to it if the family cannot draw."""
    true: np.ndarray
    """[H,W,3] uint8."""
    excess: float
    """How much nearer the prediction is to some other frame than to the true one; negative if it is not."""


def worst_misses(model: WorldModel, levels: Sequence[LevelPlay], count: int) -> list[Miss]:
    """The `count` worst steps of levels: those whose predictions are by far nearer to a wrong frame come first."""
    misses: list[Miss] = []
    for level in levels:
        frames, steps = np.asarray(level.frames), level.steps
        if len(frames) < 2:
            continue
        z, predicted = predict_steps(model, level)
        distances = torch.cdist(predicted, z).cpu()
        target = torch.from_numpy(steps[:, 2:])
        right = distances.gather(1, target)[:, 0]
        others = distances.scatter(1, target, torch.inf).masked_fill(
            torch.from_numpy(level.undecided)[steps[:, 2]], torch.inf
        )
        excess = right - others.amin(1)
        for row in excess.argsort(descending=True)[:count].tolist():
            drawn = model.shown(predicted[row : row + 1], frames[steps[row, 0]])
            picture = frames[int(distances[row].argmin())] if drawn is None else drawn[0]
            before, action, after = steps[row].tolist()
            misses.append(Miss(frames[before], action, picture, frames[after], float(excess[row])))
    return sorted(misses, key=lambda miss: -miss.excess)[:count]


def draw_misses(figure: SubFigure, misses: Sequence[Miss], action_names: Sequence[str]) -> None:
    """Three pictures per step, a column per step."""
    figure.suptitle("the worst predictions: before, predicted, true")
    axes = figure.subplots(3, max(1, len(misses)), squeeze=False)
    for axis in axes.ravel():
        axis.set_axis_off()
    for column, miss in enumerate(misses):
        for row, picture in enumerate((miss.before, miss.predicted, miss.true)):
            axes[row, column].imshow(picture)
        name = action_names[miss.action] if miss.action < len(action_names) else str(miss.action)
        axes[0, column].set_title(f"{name}: {'wrong' if miss.excess >= 0 else 'correct'}", fontsize=8)
