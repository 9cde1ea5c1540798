"""Numbers that say how an evaluation went."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pixelplan.evaluation.result import LevelResult
from pixelplan.evaluation.stats import share_optimal, wilson


def test_wilson_interval():
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 10)[0] == 0.0 and wilson(10, 10)[1] == 1.0
    np.testing.assert_allclose(wilson(95, 100), (0.8882, 0.9785), atol=1e-4)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate(counts):
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1


def test_optimal_is_a_share_of_the_solved():
    def row(solved, steps, shortest):
        return LevelResult(0, solved, steps, shortest, 0, 0, 0.0)

    assert share_optimal([row(True, 4, 4), row(True, 6, 4), row(False, 4, 4)]) == 0.5
    assert share_optimal([row(False, 4, 4)]) is None
    assert share_optimal([row(True, 4, None)]) is None
