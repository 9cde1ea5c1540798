"""Pictures for the docs, drawn from real levels and the shipped models: `make results` runs it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import ConnectionPatch
from PIL import Image

import pixelplan
from examples.cube import Cube
from examples.hanoi import Hanoi
from examples.lights_out import LightsOut
from examples.sliding_puzzle import SlidingPuzzle
from examples.sokoban_levels import SokobanLevels
from pixelplan.by_name.solve import solve
from pixelplan.files import figure_bytes, write_bytes, write_picture
from pixelplan.planning.latent_graph import as_array
from pixelplan.planning.one_shot import inference
from pixelplan.planning.plan import Plan
from pixelplan.puzzles import PUZZLES, Level, get_level, make_puzzle
from pixelplan.reports.figures import solution_picture
from pixelplan.reports.pictures import sheet
from pixelplan.types import ACTIONS

DOCS = Path(__file__).parent
SHOWN = 3004
"""A level on which nothing was trained, tuned or measured; the one that `pixelplan demo` shows."""


def solutions() -> None:
    """`solutions.png`: each puzzle with its one-shot solution as arrows."""
    pictures, titles = [], []
    for name in PUZZLES:
        challenge, episode = solve(name, SHOWN, planner="one-shot")
        pictures.append(solution_picture(challenge.level, episode))
        titles.append(f"{name}, level {SHOWN}: {len(episode.actions)} steps")
    write_picture(DOCS / "solutions.png", sheet(pictures, titles, columns=3))


def architecture(name: str = "ice-slider") -> Figure:
    """One frame through encoder, forward model and inverse model: real embeddings, predictions and distances."""
    puzzle = make_puzzle(name)
    level = get_level(puzzle, SHOWN)
    model = pixelplan.load(name)
    solution = level.shortest_path(level.start) or ()
    state = level.follow(solution)[1]
    after = level.frames(level.successors[state])  # [A,H,W,3]
    with inference():
        here = model.encode(level.frame(state)[None])
        z, truth = as_array(here)[0], as_array(model.encode(after))
        predicted = as_array(model.step(here, model.context(level.frame(level.goal))))[0]
        chances = model.networks.inverse(here.expand(len(after), -1), model.encode(after)).softmax(1).diagonal()
    apart = np.linalg.norm(predicted[:, None] - truth[None], axis=2)  # [A,A]
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    grid = figure.add_gridspec(len(ACTIONS), 6, width_ratios=(2.2, 1.6, 2.2, 1.6, 1.0, 3.0))
    seen, context = figure.add_subplot(grid[:3, 0]), figure.add_subplot(grid[3:, 0])
    for axes, place, title in ((seen, state, "frame $s_t$"), (context, level.goal, "context $s_c$")):
        axes.imshow(level.frame(place))
        axes.set_title(title, fontsize="small")
        axes.axis("off")
    limit = float(np.abs([*predicted, *truth, z]).max())
    strips = {"vmin": -limit, "vmax": limit, "cmap": "RdBu", "aspect": "auto"}
    encoded = figure.add_subplot(grid[1, 1])
    encoded.imshow(z[None], **strips)
    encoded.set_title("encoder\n$z_t = h(s_t)$", fontsize="small")
    encoded.set(xticks=[], yticks=[])
    for action, name_ in enumerate(ACTIONS):
        ahead, shown = figure.add_subplot(grid[action, 2]), figure.add_subplot(grid[action, 4])
        ahead.imshow(predicted[action][None], **strips)
        ahead.set(xticks=[], yticks=[])
        ahead.set_ylabel(name_, rotation=0, ha="right", va="center", fontsize="small")
        shown.imshow(after[action])
        shown.axis("off")
        shown.text(1.15, 0.5, f"{float(chances[action]):.2f}", transform=shown.transAxes, va="center", fontsize="small")
        real = figure.add_subplot(grid[action, 3])
        real.imshow(truth[action][None], **strips)
        real.set(xticks=[], yticks=[])
        if action == 0:
            ahead.set_title("forward model\n$f(z_t, a, s_c)$", fontsize="small")
            real.set_title("seen\n$h(s_{t+1})$", fontsize="small")
            shown.set_title("$s_{t+1}$, inverse model\n$p(a\\,|\\,z_t, z_{t+1})$", fontsize="small")
    distances = figure.add_subplot(grid[:, 5])
    picture = distances.imshow(apart, cmap="viridis_r")
    distances.set_xticks(range(len(ACTIONS)), ACTIONS, fontsize="x-small")
    distances.set_yticks(range(len(ACTIONS)), ACTIONS, fontsize="x-small")
    distances.set(xlabel="seen", ylabel="predicted")
    distances.set_title(f"distances; below {model.threshold:.2f} it is the same state", fontsize="small")
    for row, column in np.ndindex(apart.shape):
        value = f"{apart[row, column]:.2f}"
        distances.text(
            column,
            row,
            value,
            ha="center",
            va="center",
            fontsize="x-small",
            color="k" if apart[row, column] < 0.5 else "w",
        )
    figure.colorbar(picture, ax=distances, shrink=0.6)
    return figure


def search_tree(name: str = "ice-slider", layers: int = 5) -> Figure:
    """The first layers of a one-shot search, every node as the frame it stands for, the plan in red."""
    puzzle = make_puzzle(name)
    level = get_level(puzzle, SHOWN)
    plan = pixelplan.plan(pixelplan.load(name), level.frame(level.start), level.frame(level.goal))
    states = states_of_nodes(level, plan)
    depths = plan.graph.depths
    shown = [np.flatnonzero(depths == depth) for depth in range(min(layers, int(depths.max())) + 1)]
    widest = max(len(nodes) for nodes in shown)
    figure = Figure(figsize=(max(6.0, 0.9 * widest), 1.15 * len(shown)))
    places: dict[int, object] = {}
    for depth, nodes in enumerate(shown):
        for index, node in enumerate(nodes):
            left = (index + 0.5 + (widest - len(nodes)) / 2) / widest
            bottom = 1 - (depth + 0.86) / len(shown)
            width = 0.72 / widest
            axes = figure.add_axes((left - width / 2, bottom, width, 0.66 / len(shown)))
            axes.imshow(level.frame(states[node]))
            axes.set(xticks=[], yticks=[])
            on_path = node in plan.path
            for side in axes.spines.values():
                side.set(color="tab:red" if on_path else "grey", linewidth=2.5 if on_path else 0.8)
            places[int(node)] = axes
    for node, axes in places.items():
        parent = int(plan.graph.parents[node])
        if parent < 0:
            continue
        on_path = node in plan.path
        line = ConnectionPatch(
            (0.5, 0),
            (0.5, 1),
            "axes fraction",
            "axes fraction",
            axesA=places[parent],
            axesB=axes,
            color="tab:red" if on_path else "grey",
            linewidth=2 if on_path else 0.7,
        )
        figure.add_artist(line)
    return figure


def states_of_nodes(level: Level, plan: Plan) -> list[int]:
    """The state that each node stands for, by the true rules along its path from the root."""
    states = [level.start]
    for parent, action in zip(plan.graph.parents[1:], plan.graph.parent_actions[1:], strict=True):
        states.append(int(level.successors[states[parent], action]))
    return states


def boards() -> None:
    """`examples/*.png`: where levels of the larger examples begin, each beside its goal."""
    shown = {
        "sokoban-levels": [(SokobanLevels(), level) for level in (5, 10, 14, 22)],
        "sliding-puzzle": [(SlidingPuzzle(), 5), (SlidingPuzzle(picture=True), 5)],
        "cube": [(Cube(size=2), 5), (Cube(), 5)],
        "lights-out": [(LightsOut(), 5), (LightsOut(), 6)],
        "hanoi": [(Hanoi(), 5), (Hanoi(), 6)],
    }
    for name, levels in shown.items():
        pairs = [(world.reset(seed=level)[0], world.goal_frame()) for world, level in levels]
        height, gap = max(len(start) for start, _ in pairs), 8
        parts = []
        for frame in (frame for pair in pairs for frame in pair):
            below = height - len(frame)
            parts.append(np.pad(frame, ((0, below), (0, gap), (0, 0)), constant_values=255))
        picture = Image.fromarray(np.concatenate(parts, axis=1)[:, :-gap])
        write_picture(DOCS / "examples" / f"{name}.png", picture.resize((2 * picture.width, 2 * picture.height), 0))


if __name__ == "__main__":
    solutions()
    boards()
    for title, figure in (("architecture", architecture()), ("search-tree", search_tree())):
        for kind in ("png", "svg"):
            write_bytes(DOCS / f"{title}.{kind}", figure_bytes(figure, kind))
