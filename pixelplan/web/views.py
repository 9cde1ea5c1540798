"""Games, levels and plans as the page sees them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from PIL import Image

from pixelplan.envs import PUZZLES, Level
from pixelplan.envs.pictures import centres, follow
from pixelplan.planning.latent_graph import distances
from pixelplan.types import Plan
from pixelplan.web.models import Thinker
from pixelplan.web.projection import Projection
from pixelplan.web.schema import Cell, GameView, Goal, GraphView, LevelView, Place, PlanView, PuzzleView
from pixelplan.web.sessions import Game, standable

RULES = {
    "ice-slider": "Slide over the ice: only a rock or the border stops you. Come to a stop on the flag.",
    "digit-jump": "The digit under you says how far you jump; a jump that would leave the board stays where it is. "
    "Reach the bottom right corner.",
    "procgen-maze": "Lead the mouse to the cheese.",
}


def puzzle_view(env: str, thinker: Thinker) -> PuzzleView:
    """A puzzle, with its rules in a sentence or two: by default the first of its documentation page."""
    kind = PUZZLES[env]
    summary = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return PuzzleView(
        name=env,
        title=kind.__name__,
        rules=RULES.get(env, summary),
        model=thinker.label,
        trained=thinker.model is not None,
        note=thinker.note,
    )


def level_view(env: str, level: Level) -> LevelView:
    """A level's geometry."""
    cells = standable(level)
    middles = places(level, list(cells.values()))
    return LevelView(
        env=env,
        level=level.number,
        pixels=len(level.background),
        cell=level.patches.shape[1],
        places=[Place(row=row, column=column, y=y, x=x) for (row, column), (y, x) in zip(cells, middles, strict=True)],
    )


def game_view(game: Game) -> GameView:
    """A game as it stands."""
    level = game.level
    shortest = level.shortest_path(level.start)
    row, column = level.positions[game.state].tolist()
    goal_row, goal_column = level.positions[level.goal].tolist()
    return GameView(
        id=game.id,
        env=game.env,
        level=level.number,
        state=game.state,
        position=Cell(row=row, column=column),
        actions=game.actions,
        states=game.states,
        seen=game.seen,
        way=places(level, game.states),
        solved=game.solved,
        dead_end=level.shortest_path(game.state) is None,
        shortest=None if shortest is None else len(shortest),
        goal=Goal(state=level.goal, row=goal_row, column=goal_column, own=level.goal == game.own_goal),
    )


def places(level: Level, states: Sequence[int]) -> list[tuple[float, float]]:
    """Where the agent stands in these states: centres (y, x) in pixels."""
    return [(float(y), float(x)) for y, x in centres(level, states)]


def plan_view(
    plan: Plan,
    goal: np.ndarray,
    threshold: float,
    projection: Projection,
    way: list[tuple[float, float]],
    graph: GraphView | None,
    actions: Iterable[int],
    path: Iterable[int],
) -> PlanView:
    """A plan whose actions (or those chosen in its graph) lead along `way` on the board."""
    x, y = projection(goal[None])[0].tolist()
    return PlanView(
        actions=list(actions),
        reached=plan.reached,
        path=list(path),
        way=way,
        leaves=list(plan.leaves),
        nodes=plan.nodes,
        seconds=round(plan.seconds, 6),
        threshold=threshold,
        goal=(x, y),
        graph=graph,
    )


def graph_view(
    plan: Plan,
    goal: np.ndarray,
    threshold: float,
    projection: Projection,
    seen: dict[int, np.ndarray],
    corrections: Sequence[tuple[np.ndarray, int]] = (),
) -> GraphView:
    """A plan's graph; `seen` holds embeddings of seen states, corrections the (embedding, action) that memory knew."""
    graph = plan.graph
    points = projection(graph.embeddings)
    states, near = _nearest(graph.embeddings, list(seen.values()), threshold)
    names = list(seen)
    corrected = []
    for embedding, action in corrections:
        (node,), (is_near,) = _nearest(embedding[None], [*graph.embeddings], threshold)
        if is_near and node < len(graph.successors) and graph.successors[node, action] >= 0:
            corrected.append((int(node), action))
    return GraphView(
        x=points[:, 0].tolist(),
        y=points[:, 1].tolist(),
        depth=graph.depths.tolist(),
        parent=graph.parents.tolist(),
        action=graph.parent_actions.tolist(),
        distance=np.round(distances(graph.embeddings, goal), 4).tolist(),
        seen=[names[state] if found else -1 for state, found in zip(states, near, strict=True)],
        successors=graph.successors.tolist(),
        corrected=sorted(set(corrected)),
    )


def _nearest(points: np.ndarray, others: Sequence[np.ndarray], threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Which of the others [d] is nearest to each of the points [n,d], and whether it is within the threshold."""
    if not len(others):
        return np.zeros(len(points), int), np.zeros(len(points), bool)
    table = np.stack(others)
    squares = (points**2).sum(1)[:, None] + (table**2).sum(1) - 2 * points @ table.T
    return squares.argmin(1), squares.min(1) < threshold**2


def true_way(level: Level, actions: Sequence[int], state: int) -> list[tuple[float, float]]:
    """Where actions really lead from a state: centres (y, x) in pixels."""
    return places(level, follow(level, actions, state))


@lru_cache(maxsize=1024)
def png(pixels: bytes, side: int) -> bytes:
    """A square frame's bytes as PNG."""
    buffer = io.BytesIO()
    Image.frombytes("RGB", (side, side), pixels).save(buffer, "PNG")
    return buffer.getvalue()
