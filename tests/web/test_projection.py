"""Embeddings on paper."""

from __future__ import annotations

import numpy as np
import pytest

from pixelplan.web.projection import Projection


@pytest.mark.parametrize("dimensions", [1, 2, 16])
def test_projection_never_stretches_and_puts_the_goal_to_the_right(dimensions: int) -> None:
    random = np.random.default_rng(0)
    points, goal = random.normal(size=(30, dimensions)), random.normal(size=dimensions)
    projection = Projection(points, goal)
    drawn, drawn_goal = projection(points), projection(goal[None])[0]
    assert drawn.shape == (30, 2) and drawn_goal[0] >= drawn[0, 0]
    true = np.linalg.norm(points - goal, axis=1)
    assert (np.linalg.norm(drawn - drawn_goal, axis=1) <= true + 1e-3).all()
    if dimensions <= 2:
        assert np.allclose(np.linalg.norm(drawn - drawn_goal, axis=1), true, atol=1e-3)


def test_one_point_is_fine() -> None:
    assert np.isfinite(Projection(np.ones((1, 3)), np.ones(3))(np.ones((1, 3)))).all()
