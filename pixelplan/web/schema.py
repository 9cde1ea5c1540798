"""What goes over the wire, in JSON: requests, answers and the messages of a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pixelplan.planning import PLANNERS
from pixelplan.puzzles import PUZZLES
from pixelplan.puzzles.base import LAST_LEVEL
from pixelplan.puzzles.drawn_levels import PATTERN
from pixelplan.types import ACTIONS, MOST_ACTIONS

OWN_ENVIRONMENT = "own"
"""The page's name for the user's own environment, whose real name may not fit into an address."""
EnvName = Annotated[
    str,
    Field(
        max_length=40,
        description=f"A puzzle's name, or {OWN_ENVIRONMENT}: the environment that the server was started with.",
        json_schema_extra={"enum": [*PUZZLES, OWN_ENVIRONMENT]},
    ),
]


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 2.0 is 2."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
LevelNumber = Annotated[Whole, Field(ge=0, le=LAST_LEVEL, description="A level's number.")]
_NAME = rf"^(\d{{1,10}}|{PATTERN}|picture-[0-9a-f]{{16}})(~\d{{1,2}})?$"
LevelText = Annotated[
    str,
    Field(
        pattern=_NAME,
        max_length=1100,
        description="A level's number, a drawn level (START-GOAL-CELLS in digits) or what was read from a picture "
        "(picture-…); ~40 at its end adds noise of standard deviation 40.",
    ),
]
ModelName = Annotated[str, Field(max_length=80, description="One of the puzzle's models; by default its first.")]
Action = Annotated[
    Whole,
    Field(
        ge=0,
        lt=MOST_ACTIONS,
        description=f"{', '.join(f'{n} {a}' for n, a in enumerate(ACTIONS))}; your own environment names its own.",
    ),
]
if TYPE_CHECKING:
    Planner = str
else:
    Planner = Literal[tuple(PLANNERS)]


Picture = Annotated[str, Field(max_length=60_000, description="A PNG or JPEG in base64, of any size.")]
Pictures = Annotated[
    list[Picture],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1, max_length=8),
]


class Request(BaseModel):
    """What a visitor sends: exactly these fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Cell(BaseModel):
    """A place on the board, counted from the top left."""

    model_config = ConfigDict(extra="forbid", strict=True)

    row: Whole = Field(ge=0, lt=64)
    column: Whole = Field(ge=0, lt=64)


class NewGame(Request):
    """A game to start: a shared address says all of this."""

    env: EnvName
    level: LevelNumber | LevelText
    model: ModelName | None = None
    moves: list[Action] = Field(default=[], max_length=1000, description="Actions already taken.")
    goal: Cell | None = Field(default=None, description="Another goal than the level's own.")
    goal_moves: list[Action] | None = Field(
        default=None, max_length=2000, description="The same: where these actions lead from the level's start."
    )


class Moves(Request):
    """Actions to take, in their order."""

    actions: list[Action] = Field(min_length=1, max_length=1000)


class NewGoal(Request):
    """A goal: a cell, a state of this level, or pictures. Without any of them, the level's own."""

    cell: Cell | None = None
    state: Whole | None = Field(default=None, ge=0, lt=2**48, description="A state that the game knows.")
    frame: Pictures | None = Field(
        default=None,
        description="Pictures, any of which will do, or one alone; what is transparent in them does not matter.",
    )


class Problem(BaseModel):
    """Why something cannot be done, in one sentence."""

    problem: str


class PictureOfLevel(Request):
    """A picture of a level, cropped to its board."""

    env: EnvName
    frame: Picture


class PictureView(BaseModel):
    """What was read from a picture of a level."""

    level: str = Field(description="A name by which it can be played and planned from, as it looks, for a while.")
    drawing: str = Field(description="The level that it seems to show; this can be sent to others.")
    note: str
    doubtful: list[Cell] = Field(description="Cells that look like nothing known.")


class ModelChoice(BaseModel):
    """A model to choose for a puzzle."""

    name: str
    label: str
    note: str
    trained: bool = Field(description="False if the planner searches the true rules.")


class PuzzleView(BaseModel):
    """A puzzle and the model that thinks about it."""

    name: str
    title: str
    rules: str
    model: str
    trained: bool
    """False if the planner searches the true rules."""
    note: str
    models: list[ModelChoice] = Field(description="All models to choose from, the usual one first.")
    actions: list[str] = Field(description="What the actions are called, by number.")
    goal: str = Field(description="What the goal of a level is, before the visitor chooses another one.")


class PlannerView(BaseModel):
    """A planner that can be watched, and raced against the others."""

    name: Planner
    title: str
    about: str
    needs_model: bool = Field(description="Whether it imagines; one that does not has no plan to show.")


class Place(BaseModel):
    """A cell on which the agent can stand, and its centre in pixels of the frame."""

    row: int
    column: int
    y: float
    x: float


class Goal(BaseModel):
    """The goal: what its frame shows and where."""

    state: int | None = Field(description="None if no picture shows it: whatever solves the level.")
    row: int | None = Field(description="None if the world has no cells.")
    column: int | None
    own: bool = Field(description="Whether it is the level's own goal.")
    moves: list[int] | None = Field(
        description="If the world has no cells: actions that lead there from the start, if any are known."
    )
    note: str = Field(description="What this state does not show of a goal that was given as pictures.")


class LevelView(BaseModel):
    """What does not change while a level is played."""

    env: str
    level: int | str
    pixels: int = Field(description="Width of a frame.")
    height: int
    drawing: str | None = Field(description="The level as START-GOAL-CELLS, None if it cannot be drawn.")
    cell: float | None = Field(description="Pixels of a cell, None if the world has no cells.")
    places: list[Place]


class GameView(BaseModel):
    """A game as it is now. A state's frame is at `/api/frames/{env}/{level}/{state}.png`."""

    id: str
    env: str
    level: int | str
    model: str
    state: int
    position: Cell | None = Field(description="None if the world has no cells.")
    actions: list[int]
    states: list[int] = Field(description="Where the game has been, the start first.")
    seen: list[int] = Field(description="The distinct states among them.")
    way: list[tuple[float, float]] = Field(
        description="Centres (y, x) in pixels of where the game has been; empty if the world has no cells."
    )
    solved: bool
    dead_end: bool | None = Field(
        description="Whether no path leads from here to the goal, by the true rules; None if they are unknown."
    )
    shortest: int | None = Field(
        description="Moves of the shortest path from the level's start to the goal; None if there is none, or it is "
        "unknown."
    )
    goal: Goal
    note: str = Field(description="What was done to a given picture, if it was not exactly a frame.")


class Reading(BaseModel):
    """What a model reads from a game's frame: where it sees the agent, and where it thinks moves lead."""

    agent: Cell = Field(description="Where it sees the agent.")
    right: bool = Field(description="Whether the agent is there.")
    moves: list[tuple[float, float, int, float, float, bool]] = Field(
        description="From (y, x), action, to (y, x), and whether the true rules agree; from every cell."
    )
