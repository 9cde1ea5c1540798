"""What planners send on a socket, in JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from pixelplan.web.plan_view import PlanView


class PlanMessage(BaseModel):
    """The planner made a plan."""

    type: Literal["plan"] = "plan"
    step: int = Field(description="Steps taken before it.")
    intent: str = Field(description='What the route is for: "goal", "explore" or "" if nothing is left to do.')
    plan: PlanView


class StepMessage(BaseModel):
    """A step was taken, and its outcome compared with the prediction."""

    type: Literal["step"] = "step"
    step: int
    action: int
    state: int
    place: tuple[float, float] | None = Field(
        description="The agent's centre (y, x) in pixels; None if the world has no cells."
    )
    predicted: tuple[float, float, float] | None = Field(
        description="x and y in the projection, distance to the goal; None for planners without a model."
    )
    observed: tuple[float, float, float] | None
    distance: float | None = Field(description="Between the predicted and the observed embedding.")
    threshold: float | None
    agrees: bool = Field(description="Whether the distance is below the threshold.")


class DoneMessage(BaseModel):
    """A run is over."""

    type: Literal["done"] = "done"
    solved: bool
    ended: str = Field(description='"solved", "steps", "exhausted", "plan over" or "time".')
    steps: int
    plans: int
    nodes: int
    seconds: float = Field(description="The planner's thinking time, without that of the world and the page.")


class ScoreMessage(BaseModel):
    """One level of many was played."""

    type: Literal["score"] = "score"
    planner: str
    level: int
    solved: bool
    steps: int
    shortest: int | None
    played: int = Field(description="Levels so far, this one included.")
    successes: int
    interval: tuple[float, float] = Field(description="95 % Wilson interval of the share of successes.")
    seconds: float = Field(description="The planner's thinking about this level.")


class LaneMessage(BaseModel):
    """One planner of a race has finished."""

    type: Literal["lane"] = "lane"
    planner: str
    states: list[int]
    way: list[tuple[float, float]]
    planned_at: list[int]
    done: DoneMessage


class ProblemMessage(BaseModel):
    """Something cannot be done; the socket closes."""

    type: Literal["problem"] = "problem"
    problem: str


MESSAGES: tuple[type[BaseModel], ...] = (
    PlanMessage,
    StepMessage,
    DoneMessage,
    LaneMessage,
    ScoreMessage,
    ProblemMessage,
)
"""Everything that a socket sends."""
