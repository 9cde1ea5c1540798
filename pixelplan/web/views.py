"""Games, levels and plans as the page sees them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from PIL import Image

from pixelplan.planning import PLANNERS
from pixelplan.planning.plan import Plan
from pixelplan.puzzles.table_family import Tables
from pixelplan.web.board import Board
from pixelplan.web.projection import Projection
from pixelplan.web.schema import (
    Cell,
    GameView,
    Goal,
    GraphView,
    LevelView,
    ModelChoice,
    Parting,
    Place,
    PlannerView,
    PlanView,
    PuzzleView,
)
from pixelplan.web.sessions import Game
from pixelplan.web.thinkers import Thinker

RULES = {
    "ice-slider": "Slide over the ice: only a rock or the border stops you. Come to a stop on the flag.",
    "digit-jump": "The digit under you says how far you jump; a jump that would leave the board stays where it is. "
    "Reach the bottom right corner.",
    "procgen-maze": "Lead the mouse to the cheese.",
}


def planner_views() -> list[PlannerView]:
    """The planners, in the order in which they race."""
    return [
        PlannerView(name=name, title=planner.title, about=planner.about, needs_model=planner.needs_model)
        for name, planner in PLANNERS.items()
    ]


def puzzle_view(env: str, thinker: Thinker, models: list[ModelChoice]) -> PuzzleView:
    """A puzzle, with its rules in a sentence or two: by default the first of its documentation page."""
    family = thinker.family
    if isinstance(family, Tables):
        kind = type(family.puzzle)
        title, rules = kind.__name__, RULES.get(env, " ".join((kind.__doc__ or "").split("\n\n")[0].split()))
    else:
        title, rules = (
            family.name,
            "Your own environment: a level is a seed, and its frames are all that the planner sees.",
        )
    return PuzzleView(
        name=env,
        title=title,
        rules=rules,
        model=thinker.label,
        trained=thinker.model is not None,
        note=thinker.note,
        models=models,
        actions=list(family.action_names),
        goal=thinker.goal,
    )


def level_view(env: str, board: Board) -> LevelView:
    """A level's geometry."""
    middles = board.places(list(board.cells.values()))
    return LevelView(
        env=env,
        level=board.name,
        pixels=board.shape[1],
        height=board.shape[0],
        drawing=board.drawing,
        cell=board.cell,
        places=[
            Place(row=row, column=column, y=y, x=x) for (row, column), (y, x) in zip(board.cells, middles, strict=True)
        ],
    )


def game_view(game: Game) -> GameView:
    """A game as it is now."""
    board = game.board
    here, there = board.position(game.state), None if board.goal is None else board.position(board.goal)
    return GameView(
        id=game.id,
        env=game.env,
        level=board.name,
        model=game.model,
        state=game.state,
        position=None if here is None else Cell(row=here[0], column=here[1]),
        actions=game.actions,
        states=game.states,
        seen=game.seen,
        way=board.places(game.states),
        solved=game.solved,
        dead_end=board.lost(game.state),
        shortest=board.shortest,
        goal=Goal(
            state=board.goal,
            row=None if there is None else there[0],
            column=None if there is None else there[1],
            own=board.own,
            moves=None if board.goal is None else board.way(board.goal),
            note=board.goal_note,
        ),
        note=game.note,
    )


def plan_view(
    plan: Plan,
    goal: np.ndarray,
    threshold: float,
    projection: Projection,
    way: list[tuple[float, float]],
    graph: GraphView | None,
    actions: Iterable[int],
    path: Iterable[int],
    seconds: float,
    solves: bool | None,
    parts: Parting | None,
) -> PlanView:
    """A plan whose actions (or those chosen in its graph) follow `way` on the board."""
    x, y = projection(goal[None])[0].tolist()
    return PlanView(
        actions=list(actions),
        reached=plan.reached,
        path=list(path),
        way=way,
        leaves=list(plan.leaves),
        nodes=plan.nodes,
        seconds=round(seconds, 6),
        chance=None if plan.chance is None else round(plan.chance, 4),
        solves=solves,
        parts=parts,
        threshold=threshold,
        goal=(x, y),
        graph=graph,
    )


def graph_view(
    plan: Plan,
    apart: np.ndarray,
    threshold: float,
    projection: Projection,
    seen: dict[int, np.ndarray],
    corrections: Sequence[tuple[np.ndarray, int]],
    states: list[int],
    right: list[bool],
) -> GraphView:
    """A plan's graph, with the distance [M] of each node to the goal.

    `seen` holds embeddings of seen states, corrections the (embedding, action) that memory knew; `states` and `right`
    are those of `truth.nodes`.
    """
    graph = plan.graph
    points = projection(graph.embeddings)
    looks, near = _nearest(graph.embeddings, list(seen.values()), threshold)
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
        distance=np.round(apart, 4).tolist(),
        seen=[names[state] if is_near else -1 for state, is_near in zip(looks, near, strict=True)],
        successors=graph.successors.tolist(),
        corrected=sorted(set(corrected)),
        states=states,
        right=right,
    )


def _nearest(points: np.ndarray, others: Sequence[np.ndarray], threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Which of the others [d] is nearest to each of the points [n,d], and whether it is within the threshold."""
    if not len(others):
        return np.zeros(len(points), int), np.zeros(len(points), bool)
    table = np.stack(others)
    squares = (points**2).sum(1)[:, None] + (table**2).sum(1) - 2 * points @ table.T
    return squares.argmin(1), squares.min(1) < threshold**2


@lru_cache(maxsize=1024)
def png(pixels: bytes, width: int, height: int) -> bytes:
    """A frame's bytes as PNG."""
    buffer = io.BytesIO()
    Image.frombytes("RGB", (width, height), pixels).save(buffer, "PNG")
    return buffer.getvalue()
