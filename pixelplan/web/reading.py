"""What a model reads from one frame, to show why it goes wrong."""

from __future__ import annotations

import numpy as np

from pixelplan.planning.latent_graph import as_array, as_tensor, distance_table
from pixelplan.planning.one_shot import inference
from pixelplan.types import InputError, Model
from pixelplan.web.board import TableBoard
from pixelplan.web.schema import Cell, Reading
from pixelplan.web.sessions import Game


def read(game: Game, model: Model) -> Reading:
    """Where a model sees the agent in a game's frame, and where it thinks each action leads from each cell.

    An embedding stands for the state whose frame is embedded nearest to it. The model reads the rules from the goal
    frame, as the planners do.
    """
    board = game.board
    if not isinstance(board, TableBoard):
        raise InputError(
            "the states of this world are unknown, so the page cannot show what a model reads from a frame"
        )
    states = sorted({*board.cells.values(), *game.states})
    plain = [board.level.frame(state) if board.photo is not None else board.frame(state) for state in states]
    with inference():
        embeddings = as_array(model.encode(np.stack(plain)))
        here = as_array(model.encode(board.frame(game.state)[None]))
        context = model.context(board.frame(board.goal))
        predictions = as_array(model.step(as_tensor(embeddings), context))  # [n,A,d]
    places = board.places(states)
    seen = int(distance_table(here, embeddings).argmin())
    ends = distance_table(predictions, embeddings).argmin(2)  # [n,A]
    moves = []
    for index, state in enumerate(states):
        for action, end in enumerate(ends[index].tolist()):
            right = board.position(board.after(state, action)) == board.position(states[end])
            moves.append((*places[index], action, *places[end], right))
    row, column = board.position(states[seen])
    return Reading(
        agent=Cell(row=row, column=column),
        right=board.position(states[seen]) == board.position(game.state),
        moves=moves,
    )
