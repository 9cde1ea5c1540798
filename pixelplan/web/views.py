"""Games, levels and planners as the page sees them."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image

from pixelplan.files import png_bytes
from pixelplan.planning import PLANNERS
from pixelplan.puzzles.table_family import Tables
from pixelplan.web.board import Board
from pixelplan.web.schema import (
    Cell,
    GameView,
    Goal,
    LevelView,
    ModelChoice,
    Place,
    PlannerView,
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
            own=board.has_level_goal,
            moves=None if board.goal is None else board.way(board.goal),
            note=board.goal_note,
        ),
        note=game.note,
    )


@lru_cache(maxsize=1024)
def png(pixels: bytes, width: int, height: int) -> bytes:
    """A frame's bytes as PNG."""
    return png_bytes(Image.frombytes("RGB", (width, height), pixels))
