"""Routes about puzzles and levels, which are the same for all visitors."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Path
from fastapi.responses import Response

from pixelplan.web.limits import Limits
from pixelplan.web.schema import (
    EnvName,
    LevelText,
    LevelView,
    PictureOfLevel,
    PictureView,
    PlannerView,
    Problem,
    PuzzleView,
)
from pixelplan.web.thinkers import Models
from pixelplan.web.threads import Work
from pixelplan.web.uploads import decode
from pixelplan.web.views import level_view, planner_views, png, puzzle_view

REFUSALS: dict[int | str, dict[str, object]] = {
    status: {"model": Problem, "description": meaning}
    for status, meaning in {
        400: "Not JSON",
        403: "A foreign Host or Origin",
        404: "No such thing",
        413: "Too large",
        422: "Not possible",
        429: "Too many at once",
    }.items()
}


def add_level_routes(app: FastAPI, models: Models, work: Work, limits: Limits) -> None:
    """Routes under /api that need no game."""

    @app.get("/api/puzzles", tags=["levels"], responses=REFUSALS)
    async def puzzles() -> list[PuzzleView]:
        """The puzzles, and the model that thinks about each."""

        def views() -> list[PuzzleView]:
            return [puzzle_view(env, models.thinker(env), models.choices(env)) for env in models.names]

        return await work.do(views)

    @app.get("/api/planners", tags=["levels"], responses=REFUSALS)
    async def planners() -> list[PlannerView]:
        """The planners that can play, in the order in which they race."""
        return planner_views()

    @app.get("/api/levels/{env}/{level}", tags=["levels"], responses=REFUSALS)
    async def level(env: EnvName, level: LevelText) -> LevelView:
        """A level's geometry: where the agent can stand."""
        return await work.do(lambda: level_view(env, models.board(env, level, limits.states)))

    @app.get(
        "/api/frames/{env}/{level}/{state}.png",
        tags=["levels"],
        responses={**REFUSALS, 200: {"content": {"image/png": {}}, "description": "The frame as PNG"}},
        response_class=Response,
    )
    async def frame(env: EnvName, level: LevelText, state: Annotated[int, Path(ge=0, lt=2**48)]) -> Response:
        """What a state of a level looks like."""

        def draw() -> bytes:
            board = models.board(env, level, limits.states)
            return png(board.frame(state).tobytes(), board.shape[1], board.shape[0])

        return Response(await work.do(draw), media_type="image/png", headers={"cache-control": "max-age=86400"})

    @app.post("/api/pictures", tags=["levels"], status_code=201, responses=REFUSALS)
    async def read(picture: PictureOfLevel) -> PictureView:
        """Read a level from a picture of it, to play and plan in as it looks."""
        return await work.do(lambda: models.read(picture.env, decode(picture.frame)))
