"""Packed nodes against plain ones: bits, hashes, tables and whole graphs; and the queue against a sorted list."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.distance import queue
from pixelplan.distance.queue import Queue
from pixelplan.planning import packed_graph
from pixelplan.planning.latent_graph import GrowingGraph
from pixelplan.planning.packed_graph import PackedGraph, Table, hashes
from pixelplan.planning.plan import pack, unpack


def some_codes(random: np.random.Generator, count: int, bits: int, distinct: int) -> np.ndarray:
    """Embeddings [count,bits] of zeros and ones, many of them equal."""
    return (random.random((distinct, bits)) < 0.5).astype(np.float32)[random.integers(distinct, size=count)]


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 40), st.integers(1, 300), st.integers(0, 2**31))
def test_bits_are_kept(count, bits, seed):
    codes = some_codes(np.random.default_rng(seed), count, bits, 7)
    words = pack(codes)
    assert words.dtype == np.uint64 and words.shape == (count, -(-bits // 64))
    np.testing.assert_array_equal(unpack(words, bits), codes)
    np.testing.assert_array_equal(pack(codes.astype(bool)), words)


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 5), st.integers(1, 200), st.integers(1, 2000), st.integers(0, 2**31), st.booleans())
def test_a_table_numbers_rows_as_a_dictionary_does(rounds, bits, distinct, seed, alike):
    random = np.random.default_rng(seed)
    patch = pytest.MonkeyPatch()
    if alike:  # all hashes equal or nearly: the rows themselves decide
        patch.setattr(packed_graph, "hashes", lambda words: hashes(words) & np.uint64(1))
    table, known = Table(capacity=16), {}
    for _ in range(rounds):
        codes = some_codes(
            random, int(random.integers(1, 60 if alike else 3000)), bits, min(distinct, 40 if alike else 2000)
        )
        words = pack(codes)
        before = [known.get(row.tobytes(), -1) for row in words]
        np.testing.assert_array_equal(table.find(words), before)
        expected = [known.setdefault(row.tobytes(), len(known)) for row in words]
        numbers, new = table.find_or_add(words)
        assert numbers.tolist() == expected
        assert sorted(numbers[new].tolist()) == sorted(
            {number for number, old in zip(expected, before, strict=True) if old < 0}
        )
        assert table.size == len(known)
        np.testing.assert_array_equal(table.rows[numbers], words)
    patch.undo()


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 8), st.integers(1, 100), st.integers(0, 2**31))
def test_a_packed_graph_is_a_plain_one_in_less_room(rounds, bits, seed):
    random = np.random.default_rng(seed)
    root = some_codes(random, 1, bits, 1)[0]
    packed, plain = PackedGraph(root), GrowingGraph(root, threshold=0.5)
    for _ in range(rounds):
        points = some_codes(random, 30, bits, 20)
        parents, actions = random.integers(plain.size, size=30), random.integers(4, size=30)
        nodes, new = packed.find_or_add(points, parents, actions)
        others, fresh = plain.find_or_add(points, parents, actions)
        np.testing.assert_array_equal(nodes, others)
        np.testing.assert_array_equal(np.sort(new), np.sort(fresh))
        for graph in (packed, plain):
            graph.connect(np.unique(parents), np.zeros((len(np.unique(parents)), 4), np.int64))
            rerouted = graph.reroute(nodes, parents, actions)
            assert (graph.depths(rerouted) > 0).all()
        np.testing.assert_array_equal(packed.reidentify(points, 0)[0], plain.reidentify(points, 0)[0])
    one, other = packed.finished(), plain.finished()
    for name in ("embeddings", "successors", "parents", "parent_actions", "depths"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert np.concatenate([points for _, points in one.pieces(size=3)]).shape == other.embeddings.shape
    for node in range(len(one.codes)):
        assert len(one.path(node)) <= one.depths[node] + 1, "a way may have become shorter since"


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), max_size=40), st.integers(0, 2**31), st.integers(1, 20)
)
def test_the_queue_returns_what_a_heap_returns(rounds, seed, near):
    random, patch = np.random.default_rng(seed), pytest.MonkeyPatch()
    patch.setattr(queue, "_SORTED_ENTRIES", near)
    line, heap, count = Queue(), [], 0
    for pushed, popped in rounds:
        keys = random.integers(0, 12, size=pushed) / 2
        values = np.stack([np.arange(count, count + pushed), np.zeros(pushed, int)], axis=1).astype(np.int32)
        line.push(keys, values)
        for key, (number, _) in zip(keys.tolist(), values.tolist(), strict=True):
            heapq.heappush(heap, (key, number))
        count += pushed
        assert line.least() == (heap[0][0] if heap else np.inf)
        taken, keys_of = [], dict((number, key) for key, number in heap)
        while len(taken) < popped and heap:
            more = line.pop(popped - len(taken))[:, 0].tolist()  # it may return fewer at a time
            assert more
            assert [keys_of[number] for number in more] == [heapq.heappop(heap)[0] for _ in more]
            heap = [(key, number) for number, key in keys_of.items() if number not in {*taken, *more}]
            heapq.heapify(heap)
            taken += more
    patch.undo()
