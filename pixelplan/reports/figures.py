"""FIGURES of single episodes: the path as arrows on the first frame, or frames beside the growing latent graph."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from pixelplan.envs.family import Challenge
from pixelplan.files import write_bytes, write_picture
from pixelplan.planning.plan import Episode, LatentGraph, Plan
from pixelplan.puzzles import Level
from pixelplan.reports.pictures import SCALE, centres, draw_way, sheet

_SIDE, _MARGIN = 320, 24
_PAPER, _EDGE, _NODE, _PATH, _HERE = (250, 250, 248), (200, 204, 212), (112, 128, 160), (214, 60, 52), (246, 180, 40)
_FRAMES_SHOWN = 64
"""The most frames of an episode that a picture shows."""
_NODES_DRAWN = 500
"""The most nodes of a graph that are drawn: laying out more takes long and shows less."""


def write_figure(challenge: Challenge, episode: Episode, out: Path) -> None:
    """Write the episode as PNG or GIF, by the file's ending; a PNG shows the path as arrows if the level has tables."""
    if out.suffix.lower() == ".gif":
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, episode_gif(episode))
    elif challenge.level is not None:
        write_picture(out, solution_picture(challenge.level, episode))
    else:
        write_picture(out, frames_picture(episode, challenge.goal_frame, challenge.action_names))


def solution_picture(level: Level, episode: Episode) -> Image.Image:
    """The first frame with the actions taken as arrows and a circle wherever the planner changed its plan."""
    way = centres(level, level.follow(episode.actions))
    circles = [step for step in episode.planned_at[1:] if step < len(way)]
    return draw_way(episode.frames[0], way, level.patches.shape[1], circles, max(1, _SIDE // len(episode.frames[0])))


def frames_picture(episode: Episode, goal_frame: np.ndarray | None, action_names: Sequence[str]) -> Image.Image:
    """What was seen, frame by frame under the actions taken, and the goal [H,W,3] at the end, if it has a picture."""
    frames = [*episode.frames[:_FRAMES_SHOWN], *([] if goal_frame is None else [goal_frame])]
    taken = [action_names[action] for action in episode.actions[: _FRAMES_SHOWN - 1]]
    size = SCALE * frames[0].shape[1], SCALE * frames[0].shape[0]
    pictures = [Image.fromarray(frame).resize(size, Image.Resampling.NEAREST) for frame in frames]
    titles = ["start", *(f"{step}: {name}" for step, name in enumerate(taken, 1)), "goal"]
    return sheet(pictures, titles[: len(pictures)])


def episode_gif(episode: Episode, milliseconds: int = 300) -> bytes:
    """An animated GIF: the frames, and beside them the latent graph of the plan that is followed.

    The first plan's graph grows layer by layer; later ones appear whole, since there may be very many.
    """
    pictures = list(_scenes(episode))
    first, *rest = [picture.quantize(192, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE) for picture in pictures]
    durations = [milliseconds] * (len(pictures) - 1) + [4 * milliseconds]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=durations, loop=0, disposal=1)
    return buffer.getvalue()


def _scenes(episode: Episode) -> Iterator[Image.Image]:
    if not episode.plans:
        yield from (_scene(frame, None) for frame in episode.frames)
        return
    for frame in episode.frames[: episode.planned_at[0]]:
        yield _scene(frame, Image.new("RGB", (_SIDE, _SIDE), _PAPER))
    ends = [*episode.planned_at[1:], len(episode.actions)]
    for plan, began, end in zip(episode.plans, episode.planned_at, ends, strict=True):
        points = layout(plan.graph)
        drawn = int(plan.graph.depths[: len(points)].max())
        for depth in range(drawn + 1 if plan is episode.plans[0] else 0):
            yield _scene(episode.frames[began], _draw_graph(plan, points, depth, None))
        for step in range(began, end + 1):
            yield _scene(episode.frames[step], _draw_graph(plan, points, drawn, step - began))


def _scene(frame: np.ndarray, graph: Image.Image | None) -> Image.Image:
    """A frame [H,W,3], and beside it a picture of the graph if there is one: both as squares."""
    left = Image.new("RGB", (_SIDE, _SIDE), _PAPER)
    height, width = (max(1, round(_SIDE * side / max(frame.shape[:2]))) for side in frame.shape[:2])
    shown = Image.fromarray(frame).resize((width, height), Image.Resampling.NEAREST)
    left.paste(shown, ((_SIDE - width) // 2, (_SIDE - height) // 2))
    if graph is None:
        return left
    scene = Image.new("RGB", (2 * _SIDE, _SIDE), _PAPER)
    scene.paste(left, (0, 0))
    scene.paste(graph, (_SIDE, 0))
    return scene


def _draw_graph(plan: Plan, points: np.ndarray, depth: int, steps: int | None) -> Image.Image:
    """The plan's graph up to a depth, at points [M,2] in 0 … 1; once steps are taken, the plan's path and the place."""
    graph, double = plan.graph, 2 * _SIDE  # drawn large and shrunk, for smooth lines
    image = Image.new("RGB", (double, double), _PAPER)
    draw = ImageDraw.Draw(image)
    places = [tuple(place) for place in 2 * (_MARGIN + points * (_SIDE - 2 * _MARGIN))]
    shown = graph.depths[: len(points)] <= depth
    for node, action in np.argwhere(graph.successors[: len(points)] >= 0):
        there = graph.successors[node, action]
        if there < len(points) and shown[node] and shown[there]:
            draw.line([places[node], places[there]], fill=_EDGE, width=2)
    path = [node for node in plan.path if node < len(points)]
    if steps is not None:
        draw.line([places[node] for node in path], fill=_PATH, width=6)
    for node in np.flatnonzero(shown):
        _dot(draw, places[node], 5, _PATH if node == 0 else _NODE)
    if steps is not None and steps < len(path):
        _dot(draw, places[path[steps]], 12, _HERE)
    return image.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)


def _dot(draw: ImageDraw.ImageDraw, place: tuple[float, ...], radius: float, colour: tuple[int, int, int]) -> None:
    x, y = place
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)


def layout(graph: LatentGraph) -> np.ndarray:
    """Places [M,2] in 0 … 1 for the first nodes of a graph: two dimensions that keep its distances in steps best.

    Classical scaling of the number of edges between nodes, whatever their direction.
    """
    count = min(len(graph.embeddings), _NODES_DRAWN)
    joined = np.eye(count, dtype=bool)
    for column in graph.successors[:count].T:
        nodes = np.flatnonzero((column >= 0) & (column < count))
        joined[nodes, column[nodes]] = joined[column[nodes], nodes] = True
    apart, near = np.full((count, count), count, float), np.eye(count, dtype=bool)
    for steps in range(count):
        apart[near & (apart == count)] = steps
        further = (near.astype(np.float32) @ joined.astype(np.float32)) > 0
        if (further == near).all():
            break
        near = further
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centring @ apart**2 @ centring / 2)
    points = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
    points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    low, span = points.min(0), max(float(np.ptp(points, axis=0).max()), 1e-9)
    return (points - low) / span + (1 - np.ptp(points, axis=0) / span) / 2
