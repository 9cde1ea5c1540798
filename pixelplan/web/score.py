"""Many levels, one after another, with the share solved and its interval."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

from pixelplan.evaluation.stats import wilson
from pixelplan.puzzles.base import LAST_LEVEL
from pixelplan.types import InputError
from pixelplan.web.limits import Limits
from pixelplan.web.messages import ScoreMessage
from pixelplan.web.narrate import Run
from pixelplan.web.sessions import Game
from pixelplan.web.thinkers import Models


def play_many(
    models: Models, game: Game, planner: str, count: int, limits: Limits, stop: Event
) -> Iterator[ScoreMessage]:
    """Play levels from a game's own on, each from its start to its own goal, with the game's model and noise."""
    if not isinstance(models.parse(game.board.name)[0], int):
        raise InputError("a drawn level has no successors; open a level by its number")
    first, noise = models.parse(game.board.name)
    assert isinstance(first, int)
    successes = 0
    for played, number in enumerate(range(first, min(first + count, LAST_LEVEL + 1)), start=1):
        board = models.board(game.env, f"{number}~{noise}" if noise else number, limits.states)
        next_game = Game("", game.env, board, [board.start], model=game.model)
        run = Run(next_game, models.model(next_game), limits, lambda message: None, stop, models.searching(next_game))
        done = run.race(planner).done
        successes += done.solved
        yield ScoreMessage(
            planner=planner,
            level=number,
            solved=done.solved,
            steps=done.steps,
            shortest=board.shortest,
            played=played,
            successes=successes,
            interval=wilson(successes, played),
            seconds=done.seconds,
        )
