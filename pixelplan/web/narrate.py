"""The library's planners at work on a visitor's game, reported step by step."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from threading import Event
from typing import Any

import numpy as np
from pydantic import BaseModel

from pixelplan.envs.blindfold import Blindfold
from pixelplan.planning import PLANNERS, one_shot
from pixelplan.planning.latent_goal import in_latent_space
from pixelplan.planning.latent_graph import as_array, distances
from pixelplan.planning.one_shot import inference
from pixelplan.planning.plan import Episode, Plan
from pixelplan.types import InputError, Model
from pixelplan.web.clock import Clock
from pixelplan.web.limits import Limits
from pixelplan.web.messages import DoneMessage, LaneMessage, PlanMessage, StepMessage
from pixelplan.web.plan_view import PlanView, graph_view, plan_view
from pixelplan.web.projection import Projection
from pixelplan.web.searching import USUAL_SEARCH, Searching
from pixelplan.web.sessions import Game
from pixelplan.web.true_rules import Truth

UNKNOWN_DISTANCE = 4.0
"""How far from the goal, in thresholds, the graph draws every state if the model cannot recognise the goal."""


class Stopped(Exception):
    """The visitor has left, or the time is over."""


class Run:
    """One planner's run from a game's current state to its goal; the game itself does not change."""

    def __init__(
        self,
        game: Game,
        model: Model,
        limits: Limits,
        send: Callable[[BaseModel], None],
        stop: Event | None = None,
        searching: Searching = USUAL_SEARCH,
    ) -> None:
        self.board, self.model, self.limits, self.send = game.board, model, limits, send
        self.searching = searching
        self.state = game.state
        self._stop = stop or Event()
        self._until = time.monotonic() + limits.run_seconds
        self._clock = Clock()
        self._env = game.resumed(self._moved, self._clock)
        self._random = np.random.default_rng([0, game.board.number])
        self.goal = game.board.wanted
        self._seen, self._embeddings = game.seen, game.embeddings
        self._truth = Truth(game.board, model, game.embeddings)
        self._projection: Projection | None = None
        self._corrections: list[tuple[np.ndarray, int]] = []
        self._nodes_sent = 0
        self._first_look: float | None = None  # thinking before the first move
        self._last: np.ndarray | None = None
        self.steps, self.plans, self.nodes = 0, 0, 0
        self.trail = [self.state]

    def look_and_plan(self) -> PlanView:
        """A one-shot plan from here, with its graph."""
        self._look()
        self._clock.lap()
        frame = self.board.frame(self.state)
        plan = one_shot(self.model, frame, self.goal, self.searching.config, self._random)
        return self._view(plan, plan.actions, plan.path, plan.embeddings[1:], self._clock.lap())

    def execute(self, planner: str) -> DoneMessage:
        """Let a planner play, and report every plan and step as it happens."""
        try:
            episode = self._play(planner)
        except TimeoutError:
            return self._done_message(False, "time", self._clock.seconds)
        return self._done_message(episode.solved, episode.ended, self._clock.seconds)

    def again(self, planner: str) -> Episode:
        """The run that `execute` would report, for pictures: its random numbers depend only on the level."""
        try:
            return self._play(planner)
        except TimeoutError:
            raise InputError("the planner takes too long for a picture of its plans") from None

    def race(self, planner: str) -> LaneMessage:
        """Let a planner play, and report the whole run at once."""
        planned_at: list[int] = []
        try:
            episode = PLANNERS[planner].play(*self._arguments(planner))
            self.plans, self.nodes = len(episode.plans), sum(plan.nodes for plan in episode.plans)
            planned_at = list(episode.planned_at)
            done = self._done_message(episode.solved, episode.ended, self._clock.seconds, len(episode.actions))
        except TimeoutError:
            done = self._done_message(False, "time", self._clock.seconds, len(self.trail) - 1)
        way = self.board.places(self.trail)
        return LaneMessage(planner=planner, states=self.trail, way=way, planned_at=planned_at, done=done)

    def _play(self, planner: str) -> Episode:
        chosen, arguments = PLANNERS[planner], self._arguments(planner)
        if chosen.needs_model:
            self._look()
        if chosen.watched:
            return chosen.play(*arguments, observer=self)
        episode = chosen.play(*arguments)
        if [plan.actions for plan in episode.plans] != [episode.actions]:  # nothing expected to compare with
            for action in episode.actions:
                self._tell_step(action, None, None)
            return episode
        plan = episode.plans[0]
        seconds = self._clock.lap() if self._first_look is None else self._first_look
        with self._clock.stopped():  # the thinking is over, now it is reported
            self._tell_plan(plan, plan.actions, plan.embeddings[1:], plan.reached, seconds)
            with inference():
                observed = as_array(self.model.encode(episode.frames))
            for action, expected, seen in zip(plan.actions, plan.embeddings[1:], observed[1:], strict=True):
                self.saw(action, expected, seen)
        return episode

    def _arguments(self, planner: str) -> tuple[Any, ...]:
        """What a planner's `play` takes here."""
        chosen = PLANNERS[planner]
        config = chosen.settings(**asdict(self.searching.config), step_limit=self.limits.step_limit)
        return self.model if chosen.needs_model else None, self._world(), self.goal, config, self._random

    def planned(self, plan: Plan, actions: Sequence[int], expected: np.ndarray, claims_goal: bool) -> None:
        """Report a plan and the route chosen in it: actions, and the embeddings [n,d] expected after each."""
        with self._clock.stopped():
            self._tell_plan(plan, actions, expected, claims_goal, self._clock.lap())

    def saw(self, action: int, expected: np.ndarray, observed: np.ndarray) -> None:
        """Report a step: the embedding [d] that was expected and the one that was observed."""
        with self._clock.stopped():
            self._clock.lap()  # perceiving a step is thinking, too, but not planning
            self._check()
            self._tell_step(action, expected, observed)

    def _tell_plan(
        self, plan: Plan, actions: Sequence[int], expected: np.ndarray, claims_goal: bool, seconds: float
    ) -> None:
        self._check()
        self.plans += 1
        self.nodes += plan.nodes
        path = _nodes_along(plan, expected, self.model.threshold)
        view = self._view(plan, actions, path, expected, seconds)
        intent = "goal" if claims_goal else "explore" if len(actions) else ""
        self.send(PlanMessage(step=self.steps, intent=intent, plan=view))

    def _tell_step(self, action: int, expected: np.ndarray | None, observed: np.ndarray | None) -> None:
        self.steps += 1
        state = self.trail[self.steps]
        message = StepMessage(
            step=self.steps, action=action, state=state, place=next(iter(self.board.places([state])), None),
            predicted=None, observed=None, distance=None, threshold=None, agrees=True,
        )  # fmt: skip
        if expected is not None and observed is not None and self._projection is not None:
            distance = float(distances(expected, observed))
            message.predicted, message.observed = self._point(expected), self._point(observed)
            message.distance, message.threshold = round(distance, 4), self.model.threshold
            message.agrees = distance < self.model.threshold
            if not message.agrees and self._last is not None:
                self._corrections.append((self._last, action))
            self._last = observed
            self._embeddings[state] = observed
            self._seen.append(state)
        self.send(message)

    def _point(self, embedding: np.ndarray) -> tuple[float, float, float]:
        """Where an embedding [d] lies in the projection, and how far from the goal."""
        assert self._projection is not None
        x, y = self._projection(embedding[None])[0].tolist()
        return x, y, round(float(self._apart(embedding[None])[0]), 4)

    def _apart(self, embeddings: np.ndarray) -> np.ndarray:
        """How far [n] embeddings [n,d] are from the goal, as the search sees it; all equally far if the model cannot
        recognise the goal."""
        with inference():
            apart = self._wanted.apart(embeddings, self.model)
        return np.where(np.isinf(apart), UNKNOWN_DISTANCE * self.model.threshold, apart)

    def _look(self) -> None:
        """Encode the goal and all seen states that are not encoded yet."""
        with self._clock.stopped(), inference():
            new = [state for state in self._seen if state not in self._embeddings]
            if new:
                looks = as_array(self.model.encode(np.stack([*map(self.board.frame, new)])))
                self._embeddings.update(zip(new, looks, strict=True))
            self._last = self._embeddings[self.state]
            _, self._wanted = in_latent_space(self.model, self.board.frame(self.state), self.goal)
        self._clock.lap()

    def _view(
        self, plan: Plan, actions: Sequence[int], path: Sequence[int], expected: np.ndarray, seconds: float
    ) -> PlanView:
        points, apart = plan.graph.embeddings, self._apart(plan.graph.embeddings)
        if self._projection is None:
            self._centre = self._wanted.points[0] if len(self._wanted.points) else points[apart.argmin()]
            self._projection = Projection(points, self._centre)
        self._nodes_sent += plan.nodes
        here = self.trail[self.steps]
        graph = None
        if self._nodes_sent <= self.limits.nodes_shown:
            seen = {state: self._embeddings[state] for state in dict.fromkeys(self._seen)}
            states, right = self._truth.nodes(plan.graph, here)
            graph = graph_view(
                plan, apart, self.model.threshold, self._projection, seen, self._corrections, states, right
            )
        actions = [int(action) for action in actions]
        way, solves, parts = self._truth.judge(actions, expected, here)
        if self.searching.chance is not None:
            plan = replace(plan, chance=self.searching.chance(plan))
        return plan_view(
            plan,
            self._centre,
            self.model.threshold,
            self._projection,
            way,
            graph,
            actions,
            path,
            seconds,
            solves,
            parts,
        )

    def _done_message(self, solved: bool, ended: str, seconds: float, steps: int | None = None) -> DoneMessage:
        return DoneMessage(
            solved=solved,
            ended=ended,
            steps=self.steps if steps is None else steps,
            plans=self.plans,
            nodes=self.nodes,
            seconds=round(seconds, 6),
        )

    def _world(self) -> Blindfold:
        env, board = self._env, self.board
        return Blindfold(env, solved=lambda: board.solved(env.state))

    def _moved(self, state: int) -> None:
        self._check()
        if self._first_look is None:
            self._first_look = self._clock.lap()
        self.trail.append(state)

    def _check(self) -> None:
        """Raise Stopped if the visitor has left, TimeoutError if the time is over."""
        if self._stop.is_set():
            raise Stopped
        if time.monotonic() > self._until:
            raise TimeoutError


def _nodes_along(plan: Plan, expected: np.ndarray, threshold: float) -> list[int]:
    """The nodes of a plan's graph along a route, the root first, as far as they are in the graph."""
    nodes = [0]
    for embedding in expected:
        apart = distances(plan.graph.embeddings, embedding)
        if apart.min() >= threshold:
            break
        nodes.append(int(apart.argmin()))
    return nodes
