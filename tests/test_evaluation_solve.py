"""Single levels: any goal, what is judged, and pictures of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from pixelplan.by_name.resolve import open_family
from pixelplan.by_name.solve import solve
from pixelplan.evaluation.play import Task, play_level
from pixelplan.planning import PLANNERS, OneShotConfig
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.goals import with_goal, with_goal_shown
from pixelplan.puzzles.oracle import Oracle
from pixelplan.reports.figures import episode_gif, layout, solution_picture
from pixelplan.reports.summaries import story
from pixelplan.types import Goal, InputError


def test_a_random_goal_is_another_place_that_can_be_reached(name):
    for number in range(10):
        level = get_level(make_puzzle(name), number)
        other = with_goal(level, "random", seed=1)
        assert other.reachable(other.start)[other.goal] and other.goals[other.goal]
        assert (other.positions[other.goal] != other.positions[other.start]).any()


def test_any_frame_can_be_the_goal(name):
    level = get_level(make_puzzle(name), 1)
    state = int(level.successors[level.successors[level.start, 0], 1])
    challenge, episode = solve(name, 1, model="oracle", goal=level.frame(state))
    assert episode.solved and (challenge.level.positions[challenge.level.goal] == level.positions[state]).all()
    challenge, episode = solve(name, 1, model="oracle", goal=level.frame(level.start))
    assert episode.solved and episode.actions == ()


def test_a_goal_of_another_level_is_not_found():
    class Forgetful(Oracle):
        """Takes frames it does not know for one more place, which nothing leads to."""

        def encode(self, frames):
            known = [self._frames.number(frame) is not None for frame in frames]
            unknown = -np.ones(len(self._embeddings), np.float32)
            embedded = [super(Forgetful, self).encode(frame[None])[0].numpy() if ok else unknown
                        for frame, ok in zip(frames, known, strict=True)]  # fmt: skip
            return torch.from_numpy(np.stack(embedded))

    level = get_level(make_puzzle("ice-slider"), 3)
    other = get_level(make_puzzle("ice-slider"), 4)
    frame = other.frame(other.goal)
    assert not with_goal_shown(level, Goal.of(frame)).goals.any()
    for planner in PLANNERS:
        challenge, episode = solve("ice-slider", 3, planner=planner, model=Forgetful(level), goal=frame)
        assert not episode.solved and episode.ended in ("exhausted", "plan over")
        assert "not solved" in story(challenge, episode) and "there is no solution" in story(challenge, episode)
    with pytest.raises(InputError, match="shows no state of level 3"):
        solve("ice-slider", 3, model="oracle", goal=frame)
    with pytest.raises(InputError, match="the goal frame is 32 × 32 pixels"):
        solve("ice-slider", 3, model="oracle", goal=frame[::2, ::2])


def test_one_shot_is_judged_where_its_plan_ends():
    level = get_level(make_puzzle("ice-slider"), 0)
    task = Task(open_family("ice-slider"), "one-shot", OneShotConfig(depth_limit=3))
    result = play_level(task, None, 0)
    assert not result.solved and result.ended == "plan over" and result.error is None
    assert result.shortest == len(level.shortest_path(level.start))


def test_pictures(tmp_path):
    challenge, episode = solve("ice-slider", 1, model="oracle")
    picture = solution_picture(challenge.level, episode)
    assert picture.size == (320, 320)
    frame = np.asarray(Image.fromarray(episode.frames[0]).resize(picture.size, Image.Resampling.NEAREST))
    assert (np.asarray(picture) != frame).any()
    (tmp_path / "episode.gif").write_bytes(episode_gif(episode))
    with Image.open(tmp_path / "episode.gif") as animation:
        assert animation.size == (640, 320)
        assert animation.n_frames > len(episode.actions)
    points = layout(episode.plans[0].graph)
    assert points.shape == (episode.plans[0].nodes, 2) and points.min() >= -1e-9 and points.max() <= 1 + 1e-9
    _, alone = solve("ice-slider", 1, planner="image-search")
    assert episode_gif(alone)
