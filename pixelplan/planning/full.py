"""PLAN in a closed loop: act, compare, remember and replan (the paper's Algorithm 3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from pixelplan.planning.latent_goal import in_latent_space
from pixelplan.planning.latent_graph import as_array, as_tensor, distance_table, distances
from pixelplan.planning.memory import Memory, Remembering
from pixelplan.planning.one_shot import OneShotConfig, checked_goal, contexts, inference, search
from pixelplan.planning.plan import Episode, LatentGraph, Plan, can_return
from pixelplan.types import ADDED_LATER, Goal, InputError, Model, World, goal_test_of, looks_of


@dataclass(frozen=True)
class FullConfig:
    """How the closed loop plans."""

    search: OneShotConfig = field(default_factory=OneShotConfig)
    """How the latent space is searched."""
    step_limit: int = 256
    """Steps after which an episode ends."""
    lookup: bool = True
    """Whether observed transitions overrule the model (the paper's lookup table)."""
    horizon: int | None = None
    """Depth limit of every search but the first. The paper uses 10; by default it is the search's own limit."""
    likely_goal: float = field(default=0.5, metadata={**ADDED_LATER, "before": 0.0})
    """After a failed search, the prediction nearest the goal is visited first if its distance is below this share of
    the median distance of all predictions, or if the model's goal test accepts it. 0 means never."""
    likely_look: float = field(default=0.75, metadata={**ADDED_LATER, "before": 0.0})
    """That share if the model knows how much predictions differ from the goal in a picture: what looks like the goal is
    more likely to be it than what is merely near."""

    def __post_init__(self) -> None:
        if self.step_limit < 1:
            raise InputError(f"step_limit is {self.step_limit}; it must be at least 1")
        if self.horizon is not None and self.horizon < 1:
            raise InputError(f"horizon is {self.horizon}; it must be at least 1")
        for name in ("likely_goal", "likely_look"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be from 0 to 1")


class Observer(Protocol):
    """Watches the planner at work, as the page does."""

    def planned(self, plan: Plan, actions: Sequence[int], expected: np.ndarray, claims_goal: bool) -> None:
        """A plan was made: n actions, the embeddings [n,d] expected after each, and whether they lead to the goal."""

    def saw(self, action: int, expected: np.ndarray, observed: np.ndarray) -> None:
        """An action was taken; `observed` [d] is the embedding that was seen, `expected` [d] the predicted one."""


def full(
    model: Model,
    world: World,
    goal: Goal | np.ndarray,
    config: FullConfig = FullConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
    observer: Observer | None = None,
) -> Episode:
    """Play one episode towards a goal: a `Goal`, or a frame [H,W,3], or any of several [G,H,W,3].

    The episode ends when the environment reports the goal, when the steps run out, or when every action has been tried
    in every state that can still be reached, so that the goal cannot be reached. (If pixels are noisy, that is no
    proof, and play continues.)
    """
    random = random or np.random.default_rng(0)
    frame, solved = world.reset()
    goal = checked_goal(frame, goal)
    solved = solved or goal.shown_by(frame)
    with inference():
        agent = _Agent(model, world.actions, frame, goal, config, random, observer)
        while not solved and len(agent.actions) < config.step_limit:
            action = agent.act()
            if action is None:
                break
            frame, solved = world.step(action)
            solved = solved or checked_goal(frame, goal).shown_by(frame)
            agent.see(frame, solved)
    out_of_steps = len(agent.actions) >= config.step_limit
    return Episode(
        actions=tuple(agent.actions),
        frames=np.stack(agent.frames),
        solved=solved,
        ended="solved" if solved else "steps" if out_of_steps else "exhausted" if config.lookup else "plan over",
        plans=tuple(agent.plans),
        planned_at=tuple(agent.planned_at),
        seconds=agent.seconds,
    )


class _Agent:
    """One episode's state: where it is, what it remembers, and what it wants to do next."""

    def __init__(
        self,
        model: Model,
        actions: int,
        frame: np.ndarray,
        goal: Goal,
        config: FullConfig,
        random: np.random.Generator,
        observer: Observer | None,
    ) -> None:
        began = time.perf_counter()
        self.config, self.random, self.observer = config, random, observer
        self.actions: list[int] = []
        self.frames, self.goal = [frame], goal
        self.plans: list[Plan] = []
        self.planned_at: list[int] = []
        self.memory = Memory(actions, model.threshold if model.noisy else None)
        self.perception = model
        self.model: Model = Remembering(model, self.memory) if config.lookup else model
        start, self.wanted = in_latent_space(model, frame, goal)
        self.here = self.memory.observe(frame, start)
        self.context: Any = None  # of the latest search
        self.route: list[tuple[int, np.ndarray]] = []  # actions still to take, and the embedding expected after each
        self.claims_goal = False  # whether the route ends where the model sees the goal
        self.seconds = time.perf_counter() - began

    def act(self) -> int | None:
        """The next action; None if nothing is left to try."""
        began = time.perf_counter()
        if not self.route or self._known_to_differ(*self.route[0]):
            self.route = self._new_route()
        if not self.route and self.perception.noisy:
            self._start_over()
        self.seconds += time.perf_counter() - began
        return self.route[0][0] if self.route else None

    def see(self, frame: np.ndarray, solved: bool) -> None:
        """Remember what the action led to, and drop the route if it was a surprise."""
        began = time.perf_counter()
        action, expected = self.route.pop(0)
        self.actions.append(action)
        self.frames.append(frame)
        embedding = as_array(self.perception.encode(frame[None]))[0]
        there = self.memory.observe(frame, embedding)
        self.memory.successors[self.here, action] = there
        self.here = there
        if self.observer is not None:
            self.observer.saw(action, expected, embedding)
        if self._differ(embedding, expected):
            self.route = []
        elif not self.route and self.claims_goal and not solved:
            self.memory.not_goals.add(there)
        self.seconds += time.perf_counter() - began

    def _start_over(self) -> None:
        """If pixels are noisy and nothing seems left to try, two states were confused: forget everything."""
        self.memory.forget()
        self.here = self.memory.observe(self.frames[-1], as_array(self.perception.encode(self.frames[-1][None]))[0])
        self.route = self._new_route()

    def _differ(self, seen: np.ndarray, expected: np.ndarray) -> bool:
        return float(distances(seen, expected)) >= self.perception.threshold

    def _known_to_differ(self, action: int, expected: np.ndarray) -> bool:
        """Whether this action was tried here before and did not lead where the route expects."""
        known = int(self.memory.successors[self.here, action])
        return self.config.lookup and known >= 0 and self._differ(self.memory.embeddings([known])[0], expected)

    def _new_route(self) -> list[tuple[int, np.ndarray]]:
        """A route to the goal, else to a new state, else to an untried action; empty if there is none."""
        plan = self._search()
        while plan.reached and not plan.actions:  # the model mistakes the current state for the goal
            self.memory.not_goals.add(self.here)
            plan = self._search()
        self.claims_goal = plan.reached
        if not plan.reached:
            plan = self._explore(plan)
            self.plans[-1] = plan
        if self.observer is not None:
            self.observer.planned(plan, plan.actions, plan.embeddings[1:], plan.reached)
        return list(zip(plan.actions, plan.embeddings[1:], strict=True))

    def _search(self) -> Plan:
        config = self.config.search
        if self.plans and self.config.horizon is not None:
            config = replace(config, depth_limit=self.config.horizon)
        not_goals = self.memory.embeddings(sorted(self.memory.not_goals)) if self.memory.not_goals else None
        start = self.memory.embeddings([self.here])[0]
        if self.goal.masks is not None:  # pixels outside the mask may have changed
            self.wanted = in_latent_space(self.perception, self.frames[-1], self.goal)[1]
        for context in contexts(self.perception, self.frames[-1], self.goal, config):
            self.context = context
            plan = search(self.model, context, start, self.wanted, config, self.random, not_goals)
            if plan.reached:
                break
        self.plans.append(plan)
        self.planned_at.append(len(self.actions))
        return plan

    def _explore(self, plan: Plan) -> Plan:
        """Where to go if no path to the goal is known: to what is most likely the goal, or else to something new,
        preferably with a path back.

        The plan is empty if nothing is left to try.
        """
        if self._ends_at_likely_goal(plan):
            return plan
        for allowed in (can_return(plan.graph.successors), np.ones(plan.nodes, bool)):
            exploration = self._to_new_state(plan, allowed) or self._to_untried_action(plan, allowed)
            if exploration is not None:
                return exploration
        return replace(plan, actions=(), embeddings=plan.embeddings[:1], path=(0,))

    def _ends_at_likely_goal(self, plan: Plan) -> bool:
        """Whether the last node of a failed plan, the nearest to the goal, is a new state and most likely the goal.

        If it is much nearer than most nodes, it is the goal poorly predicted, because random play hardly ever sees it.
        If the model's goal test accepts it, the goal looks different from its picture when it is reached in this way,
        like a mouse that comes from the other side.
        """
        if not self.config.likely_goal or self.wanted.test is not None or len(plan.path) < 2:
            return False
        unlike = np.concatenate([self.wanted.unlike(points, self.perception) for _, points in plan.graph.pieces()])
        last = unlike[plan.path[-1]] if np.isfinite(plan.far) else np.inf  # infinite if it is known not to be the goal
        share = self.config.likely_goal if looks_of(self.perception) is None else self.config.likely_look
        is_new = distance_table(plan.embeddings[-1:], self.memory.embeddings()).min() >= self.perception.threshold
        test = goal_test_of(self.perception)
        solves = test is not None and float(test(as_tensor(plan.embeddings[-1:]))) < 1
        return bool(is_new and (solves or last < share * np.median(unlike)))

    def _to_new_state(self, plan: Plan, allowed: np.ndarray) -> Plan | None:
        """To a predicted state not yet visited: the one with the fewest steps to it and on to the goal, as far as
        embeddings can tell. Only nodes allowed [M] count.

        Embeddings tell near from far, but not far from farther. If the steps to the state did not count, the agent
        could run back and forth between the ends of the level.
        """
        graph = plan.graph
        observed = self.memory.embeddings()
        apart = np.concatenate([distance_table(points, observed).min(1) for _, points in graph.pieces()])
        candidates = np.flatnonzero(allowed & (apart >= self.perception.threshold))
        if not len(candidates):
            return None
        ahead = self._ahead(graph) if graph.ahead is None else graph.ahead
        path = graph.path(int(candidates[(graph.depths + ahead)[candidates].argmin()]))
        return replace(plan, actions=graph.actions(path), embeddings=graph.at(path), path=tuple(path))

    def _ahead(self, graph: LatentGraph) -> np.ndarray:
        """Steps [M] from each node to the goal, as far as embeddings can tell: their distance over that of one step.

        All zero if a goal test decides: it does not tell near from far.
        """
        if self.wanted.test is not None:
            return np.zeros(len(graph.codes))
        steps, far = [], []
        for nodes, points in graph.pieces():
            steps.append(distances(points, graph.at(np.maximum(graph.parents[nodes], 0))))
            far.append(self.wanted.apart(points, self.perception))
        return np.concatenate(far) / np.concatenate(steps)[1:].mean()

    def _to_untried_action(self, plan: Plan, allowed: np.ndarray) -> Plan | None:
        """To an untried action in an observed state: the model says that it leads nowhere new, but may be wrong.

        The nearest comes first; among equals, the one the model is least sure of. Only actions that seem to lead to
        nodes allowed [M] count. Without the lookup table, it is unknown what was tried.
        """
        untried = list(self.memory.untried(self.here)) if self.config.lookup else []
        if not untried:
            return None
        states = [state for _, state in untried]
        predictions = as_array(self.perception.step(as_tensor(self.memory.embeddings(states)), self.context))  # [n,A,d]
        apart, nearest = _nearest(predictions, plan.graph)  # [n,A] each
        travel = np.array([len(way) for way, _ in untried])[:, None]
        excluded = (self.memory.successors[states] >= 0) | ~allowed[nearest]
        keys = np.broadcast_arrays(-apart, travel, excluded)
        row, action = divmod(int(np.lexsort([key.ravel() for key in keys])[0]), predictions.shape[1])
        if excluded[row, action]:
            return None
        way, passed = untried[row][0], [self.here]
        for step in way:
            passed.append(int(self.memory.successors[passed[-1], step]))
        embeddings = np.concatenate([self.memory.embeddings(passed), predictions[row, action][None]])
        return replace(plan, actions=(*way, action), embeddings=embeddings, path=(0,))


def _nearest(points: np.ndarray, graph: LatentGraph) -> tuple[np.ndarray, np.ndarray]:
    """The distance [...] from points [...,d] to the nearest node of a graph, and that node [...]."""
    apart, nodes = np.full(points.shape[:-1], np.inf), np.zeros(points.shape[:-1], np.int64)
    for piece, embeddings in graph.pieces():
        table = distance_table(points, embeddings)  # [...,m]
        nearer = table.min(-1) < apart
        nodes = np.where(nearer, piece.start + table.argmin(-1), nodes)
        apart = np.where(nearer, table.min(-1), apart)
    return apart, nodes
