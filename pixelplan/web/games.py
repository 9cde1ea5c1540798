"""Routes of games: start, play, aim, plan, save."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import FastAPI, Path, Query
from fastapi.responses import Response

from pixelplan.files import png_bytes
from pixelplan.planning.plan import Episode
from pixelplan.reports.figures import episode_gif
from pixelplan.types import InputError
from pixelplan.web.board import Board, follow, state_of_cell
from pixelplan.web.level_routes import REFUSALS
from pixelplan.web.limits import Limits
from pixelplan.web.narrate import Run
from pixelplan.web.plan_view import PlanView
from pixelplan.web.reading import read
from pixelplan.web.schema import GameView, Moves, NewGame, NewGoal, Planner, Reading
from pixelplan.web.sessions import Game, Games
from pixelplan.web.thinkers import Models
from pixelplan.web.threads import Work
from pixelplan.web.uploads import aimed_at_pictures
from pixelplan.web.views import game_view

ByPlanner = Annotated[Planner | None, Query(description="The planner that made the moves, to show its plans, too.")]
Since = Annotated[int, Query(ge=0, le=2**31 - 1, description="The number of moves before the planner's.")]
GameId = Annotated[str, Path(max_length=64, description="A game's id.")]


def add_game_routes(app: FastAPI, models: Models, games: Games, work: Work, limits: Limits) -> None:
    """Routes under /api/games."""
    options: dict[str, Any] = {"tags": ["games"], "responses": REFUSALS}

    async def changed(id: str, change: Callable[[Game], None]) -> GameView:
        """A game after a change; one change at a time, and on a thread, since a user's environment may be slow."""
        game = games.get(id)

        def do() -> GameView:
            with game.lock:
                change(game)
                return game_view(game)

        return await work.do(do)

    @app.post("/api/games", status_code=201, **options)
    async def begin(wish: NewGame) -> GameView:
        """Start a game, optionally with moves already made and another goal."""
        if wish.goal is not None and wish.goal_moves is not None:
            raise InputError("a goal is a cell or where moves lead, not both")

        def prepare() -> Board:
            models.thinker(wish.env, wish.model or "")  # an InputError if there is no such model
            board = models.board(wish.env, wish.level, limits.states)
            if wish.goal is not None:
                board = board.towards(state_of_cell(board, wish.goal.row, wish.goal.column))
            elif wish.goal_moves is not None:
                board = board.towards(follow(board, wish.goal_moves, board.start)[-1])
            follow(board, wish.moves, board.start)  # wrong moves start no game
            return board

        game = games.add(wish.env, await work.do(prepare), wish.model or "")
        return await changed(game.id, lambda game: game.play(wish.moves, limits.moves))

    @app.get("/api/games/{id}", **options)
    async def look(id: GameId) -> GameView:
        """A game as it is now."""
        return await changed(id, lambda game: None)

    @app.delete("/api/games/{id}", status_code=204, **options)
    async def leave(id: GameId) -> None:
        """Drop a game."""
        games.remove(id)

    @app.post("/api/games/{id}/moves", **options)
    async def move(id: GameId, moves: Moves) -> GameView:
        """Take actions."""
        return await changed(id, lambda game: game.play(moves.actions, limits.moves))

    @app.post("/api/games/{id}/undo", **options)
    async def undo(id: GameId) -> GameView:
        """Take the last move back, if there is one."""
        return await changed(id, Game.undo)

    @app.post("/api/games/{id}/restart", **options)
    async def restart(id: GameId) -> GameView:
        """Go back to the start."""
        return await changed(id, Game.restart)

    @app.put("/api/games/{id}/goal", **options)
    async def aim(id: GameId, goal: NewGoal) -> GameView:
        """Choose another goal: a cell, a state, what pictures show, or the level's own again."""
        if sum(part is not None for part in (goal.cell, goal.state, goal.frame)) > 1:
            raise InputError("a goal is a cell, a state or a frame; give only one of them")

        def aim_at(game: Game) -> None:
            if goal.frame is not None:
                game.board, game.note = aimed_at_pictures(game.board, goal.frame)
                return
            state = goal.state
            if goal.cell is not None:
                state = state_of_cell(game.board, goal.cell.row, goal.cell.column)
            elif state is not None:
                game.board.frame(state)  # an InputError if there is no such state
            game.board, game.note = game.board.towards(state), ""

        return await changed(id, aim_at)

    @app.post("/api/games/{id}/plan", **options)
    async def plan(id: GameId) -> PlanView:
        """Plan once from here to the goal, by the model alone, and show the latent graph."""
        game = games.get(id)
        return await work.do(lambda: quiet_run(game, game).look_and_plan())

    @app.get("/api/games/{id}/reading", **options)
    async def reading(id: GameId) -> Reading:
        """What the model reads from the frame: where the agent is, and where moves lead from every cell."""
        game = games.get(id)
        return await work.do(lambda: read(game, models.model(game)))

    @app.get("/api/games/{id}/solution.png", response_class=Response, **_picture("image/png"))
    async def picture(id: GameId, planner: ByPlanner = None, since: Since = 0) -> Response:
        """The moves so far as arrows on the level's first frame, with a circle wherever the planner replanned."""
        game = games.get(id)
        data = await work.do(lambda: png_bytes(game.board.picture(episode(game, planner, since))))
        return _download(data, game, "png")

    @app.get("/api/games/{id}/solution.gif", response_class=Response, **_picture("image/gif"))
    async def animation(
        id: GameId,
        planner: ByPlanner = None,
        since: Since = 0,
        milliseconds: Annotated[int, Query(ge=20, le=2000)] = 300,
    ) -> Response:
        """The moves so far as an animated picture, beside the growing latent graph of the planner that made them."""
        game = games.get(id)
        if len(game.actions) > limits.gif_steps:
            raise InputError(f"an animated picture has at most {limits.gif_steps} moves; this game has more")
        data = await work.do(lambda: episode_gif(episode(game, planner, since), milliseconds))
        return _download(data, game, "gif")

    def episode(game: Game, planner: Planner | None, since: int) -> Episode:
        """The moves so far and, if a planner made those after `since`, its plans, which it makes again for this."""
        if planner is None:
            return game.episode()
        return game.episode(since, quiet_run(game, game.before(since)).again(planner))

    def quiet_run(game: Game, start: Game) -> Run:
        """A run from where a game started or is now, without messages."""
        return Run(start, models.model(game), limits, lambda message: None, searching=models.searching(game))


def _picture(kind: str) -> dict[str, Any]:
    """How a route that answers with a picture is documented."""
    answers = {**REFUSALS, 200: {"content": {kind: {}}, "description": "The picture"}}
    return {"tags": ["games"], "responses": answers}


def _download(data: bytes, game: Game, ending: str) -> Response:
    drawn = isinstance(game.board.name, str) and "-" in game.board.name
    name = f"{game.env}-{'drawn' if drawn else game.board.number}.{ending}"
    return Response(
        data, media_type=f"image/{ending}", headers={"content-disposition": f'attachment; filename="{name}"'}
    )
