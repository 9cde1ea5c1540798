"""The latent graph's parts: reidentification and the filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning.latent_graph import GrowingGraph, distances, thin_out


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(1, 8), st.floats(0.05, 3.0), st.integers(0, 2**31))
def test_filter_keeps_a_maximal_set_of_points_that_are_not_near(count, dimensions, threshold, seed):
    points = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    kept, stands_for = thin_out(points, threshold)
    apart = distances(points[:, None], points)
    among_kept = apart[np.ix_(kept, kept)] + np.where(np.eye(len(kept)), np.inf, 0)
    assert (among_kept > threshold - 1e-3).all()
    assert (apart[np.arange(count), kept[stands_for]] < threshold + 1e-3).all()
    np.testing.assert_array_equal(stands_for[kept], np.arange(len(kept)))


def test_filter_settles_duplicates():
    points = np.eye(3, dtype=np.float32)[[0, 1, 0, 2, 1, 0]]
    kept, stands_for = thin_out(points, 0.5)
    np.testing.assert_array_equal(kept, [0, 1, 3])
    np.testing.assert_array_equal(stands_for, [0, 1, 0, 2, 1, 0])


def test_filter_drops_the_point_with_most_neighbours():
    points = np.array([[0.0], [0.4], [0.8]], np.float32)  # the middle one is near both others
    assert thin_out(points, 0.5)[0].tolist() == [0, 2]


@pytest.mark.parametrize("nodes", [10, 2000])
def test_reidentify_finds_the_nearest_node_in_graphs_of_any_size(nodes):
    random = np.random.default_rng(0)
    embeddings = random.standard_normal((nodes, 16)).astype(np.float32)
    graph = GrowingGraph(embeddings[0], threshold=0.5)
    for first in range(1, nodes, 100):
        more = embeddings[first : first + 100]
        added = graph.add(more, np.zeros(len(more), int), np.zeros(len(more), int))
        np.testing.assert_array_equal(added, np.arange(first, first + len(more)))
    wanted = random.integers(nodes, size=50)
    near = embeddings[wanted] + random.uniform(-0.1, 0.1, (50, 16)).astype(np.float32)
    np.testing.assert_array_equal(graph.reidentify(near, recent=nodes - 5)[0], wanted)
    far = 50 + random.standard_normal((20, 16)).astype(np.float32)
    np.testing.assert_array_equal(graph.reidentify(far, recent=nodes - 5)[0], -1)
    assert graph.size == nodes
    np.testing.assert_array_equal(graph.finished().embeddings, embeddings)
