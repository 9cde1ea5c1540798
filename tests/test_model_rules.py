"""Rules learned from counts: trees of questions, and the family that is made of them."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.experiments.specs import described
from pixelplan.families.grow_trees import Steps, TreeConfig, grow, learn, wrong
from pixelplan.families.presets import PRESETS
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.families.rules import Rules, RulesConfig, fit_rules
from pixelplan.families.trees import causes, look_up, surroundings
from pixelplan.model.batches import level_plays
from pixelplan.model.find_family import config_from
from pixelplan.model.metrics import rollout_exactness, step_errors
from pixelplan.model.train import train
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.types import InputError, is_discrete
from tests.tiny_world import play

RULES = dataclasses.replace(PRESETS["rules"], quiet=True, threads=1)


def answers(table: np.ndarray, x: np.ndarray) -> list[int]:
    """What a tree says of rows [r,F], row by row."""
    answered = []
    for seen in x:
        row = table[0]
        while row[2] >= 0:
            row = table[row[2] if seen[row[0]] == row[1] else row[3]]
        answered.append(int(row[1] if row[0] < 0 else seen[row[0]]))
    return answered


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 80), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**31))
def test_a_tree_knows_all_that_it_was_grown_from(rows, places, kinds, seed):
    """Whatever the rule, if there is one: equal rows always have equal answers."""
    random = np.random.default_rng(seed)
    x = random.integers(kinds, size=(rows, places)).astype(np.uint8)
    rule = random.integers(kinds, size=kinds**places)
    y = rule[x @ kinds ** np.arange(places)].astype(np.uint8)
    assert answers(grow(x, y, places, 10_000), x) == y.tolist()


def test_a_tree_without_a_rule_says_what_is_most_common():
    x = np.zeros((5, 2), np.uint8)
    table = grow(x, np.array([3, 1, 3, 3, 2], np.uint8), 2, 100)
    assert table.tolist() == [[-1, 3, -1, -1]]


def test_a_copy_also_holds_for_kinds_that_were_never_seen():
    x = np.array([[0, 1], [0, 2], [1, 2], [2, 1]], np.uint8)
    table = grow(x, x[:, 1], 2, 100)
    assert table.tolist() == [[1, 0, -1, -1]] and answers(table, np.array([[0, 7]])) == [7]


def test_a_tree_has_no_more_rows_than_allowed():
    random = np.random.default_rng(0)
    x, y = random.integers(4, size=(200, 6)).astype(np.uint8), random.integers(4, size=200).astype(np.uint8)
    assert len(grow(x, y, 6, 11)) <= 11


def test_surroundings_begin_with_the_cell_and_know_the_rim():
    look = surroundings(2, 3, 1, others=2)
    assert look.shape == (6, 9 + 2) and look[:, 0].tolist() == list(range(6))
    assert sorted(look[0, :9].tolist()) == [0, 1, 3, 4, 6, 6, 6, 6, 6], "6 is outside"
    assert (look[:, 9:] == [7, 8]).all()
    everywhere = surroundings(2, 3, 0, others=0)
    assert everywhere.shape == (6, 7) and (everywhere[:, 1:] == np.arange(6)).all()


def test_every_cell_can_have_a_rule_of_its_own():
    """A few dozen steps tell where everything moves, if every cell is a copy of another."""
    random = np.random.default_rng(0)
    order = np.stack([random.permutation(12) for _ in range(3)])
    kinds = random.integers(5, size=(90, 12)).astype(np.uint8)
    after = np.stack([kinds[row, order[row % 3]] for row in range(90)])
    outside = np.full((180, 1), 5, np.uint8)
    codes = np.concatenate([np.concatenate([kinds, after]), outside], axis=1)
    seen = Steps(codes, np.stack([np.arange(90), np.arange(90) % 3, np.arange(90, 180)], axis=1))
    first = Steps(codes, seen.steps[:60])
    trees = learn(first, surroundings(3, 4, 0, 0), 13, 3, alike=False, most=1000)
    assert not wrong(trees, seen).any()
    assert wrong(learn(first, surroundings(3, 4, 1, 0), 9, 3, alike=True, most=1000), seen).any(), (
        "neighbours do not do"
    )


def test_an_action_that_was_never_seen_changes_nothing():
    codes = np.array([[0, 1, 2], [1, 0, 2]], np.uint8)
    trees = learn(Steps(codes, np.array([[0, 0, 1]])), surroundings(1, 2, 1, 0), 9, 2, alike=True, most=100)
    assert trees.after(codes, 1, np.arange(2)).tolist() == [[0, 1], [1, 0]]
    assert trees.after(codes[:1], 0, np.arange(2)).tolist() == [[1, 0]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train(play(levels=40), tmp_path_factory.mktemp("rules") / "model", RULES)


def test_rules_hold_in_unseen_levels(trained):
    config, sizes = fit_rules(RulesConfig(), None, play(levels=40))
    assert (config.kinds, config.sight) == (3, 1) and (sizes.rows, sizes.columns) == (4, 4)
    assert trained.config == config and trained.layout == (4, 4, 3)
    levels = level_plays(play(levels=20, seed=1))
    assert step_errors(trained, levels).exact == 1.0
    assert rollout_exactness(trained.networks, levels, (1000,), walks=10) == {1000: 1.0}


def test_codes_are_zeros_and_ones_and_are_searched_as_such(trained):
    data = play(levels=1, seed=2)
    assert is_discrete(trained)
    plan = one_shot(trained, data.frames[0], data.frames[-1], OneShotConfig(frontier="best-first"))
    assert plan.reached and plan.graph.bits == 48
    np.testing.assert_array_equal(trained.shown(trained.encode(data.frames), data.frames[0]), data.frames)


def test_near_codes_are_one_state_only_if_the_threshold_says_so(trained):
    threshold = trained.threshold
    trained.threshold = 1.5
    assert not is_discrete(trained)
    trained.threshold = threshold


def test_a_given_sight_is_kept():
    config, _ = fit_rules(RulesConfig(sight=2), (4, 4), play(levels=4))
    assert config.sight == 2


def test_how_sights_are_tried_is_a_setting():
    data = play(levels=10)
    assert fit_rules(RulesConfig(), (4, 4), data)[0].sight == 1
    assert fit_rules(RulesConfig(sights=(2, 1)), (4, 4), data)[0].sight == 2
    assert fit_rules(RulesConfig(sights=(2, 1), trial_questions=1, good_sight=0.0), (4, 4), data)[0].sight == 2
    sizes = fit_rules(RulesConfig(), (4, 4), data)[1]
    levels, usual = level_plays(data), RulesConfig(kinds=3, sight=1)
    scores = {
        name: Rules(dataclasses.replace(usual, **change), sizes).judge(levels)
        for name, change in (
            ("usual", {}),
            ("questions", {"trial_questions": 1}),
            ("rounds", {"trial_rounds": 1, "trees": TreeConfig(first_rows=2)}),
            ("levels", {"held_out_every": 2, "trees": TreeConfig(first_rows=2), "trial_rounds": 1}),
        )
    }
    assert scores["usual"] == 1.0 and len(set(scores.values())) == 4, scores


def test_how_trees_are_grown_is_a_setting():
    random = np.random.default_rng(0)
    codes = random.integers(3, size=(400, 4)).astype(np.uint8)
    codes[1::2, 0] = (codes[::2, 1] + codes[::2, 2]) % 3  # cell 0 becomes the sum of two others
    seen = Steps(codes, np.stack([np.arange(0, 400, 2), np.zeros(200, int), np.arange(1, 400, 2)], axis=1))
    look = np.tile(np.arange(4), (1, 1))
    missed = {
        name: wrong(learn(seen, look, 4, 1, False, 1000, config), seen).sum()
        for name, config in (
            ("usual", TreeConfig()),
            ("flat", TreeConfig(deepest=2)),
            ("few", TreeConfig(first_rows=8, rounds=1)),
            ("again", TreeConfig(first_rows=8, more_rows=1000)),
        )
    }
    assert missed["usual"] == missed["again"] == 0 and missed["flat"] > 0 and missed["few"] > 0, missed


def test_too_many_looks_are_refused_and_how_many_is_a_setting():
    with pytest.raises(InputError, match="show more than 2 different things, too many to learn rules"):
        fit_rules(RulesConfig(most_looks=2), (4, 4), play(levels=4))


def test_how_rules_are_learned_is_in_the_record_of_a_model(trained):
    config = RulesConfig(sights=(3,), trees=TreeConfig(rounds=3), reading=ReadingConfig(compared_levels=7))
    written = json.loads(json.dumps(dataclasses.asdict(config)))
    assert written["trees"]["rounds"] == 3 and config_from(written) == config
    assert config_from({"family": "rules", "kinds": 16, "questions": 2**15}) == RulesConfig(), "as older records are"
    assert described(RulesConfig()) == {"kind": "RulesConfig", "family": "rules", "kinds": 16, "sight": None,
        "questions": 2**15}, "cells that were recorded before are found"  # fmt: skip


def test_only_cells_with_a_cause_near_are_asked_about_and_answers_are_looked_up(trained):
    """It is faster, and the answers are those of all trees."""
    z = trained.encode(play(levels=3, seed=5).frames)
    networks = trained.networks
    assert (
        networks.causes.any()
        and networks._may_change(networks._codes(z.view(len(z), 16, 3).argmax(2))).float().mean() < 0.5
    )
    looked_up, lookup = trained.step(z, None), networks.lookup
    assert lookup is not None
    networks.lookup = None
    quick = trained.step(z, None)
    known = networks.causes.clone()
    networks.causes.zero_()
    assert torch.equal(quick, trained.step(z, None)) and torch.equal(quick, looked_up)
    networks.causes.copy_(known)
    networks.lookup = lookup


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**31), st.booleans())
def test_lookups_answer_as_trees_do(seed, alike):
    """Trees of random answers, the same for all cells or one for each; some ask about more places than others."""
    random = np.random.default_rng(seed)
    count, kinds, actions = 6, 3, 2
    look = surroundings(2, 3, 1 if alike else 0, kinds)
    codes = np.concatenate(
        [random.integers(kinds, size=(40, count)), np.full((40, 1), kinds), random.integers(2, size=(40, kinds))], 1
    ).astype(np.uint8)
    steps = np.stack([np.arange(39), random.integers(actions, size=39), np.arange(1, 40)], axis=1)
    trees = learn(Steps(codes, steps), look, look.shape[1] - kinds, actions, alike, most=int(random.integers(12, 24)))
    lookup = look_up(trees.table, trees.roots, look, kinds + 1)
    if lookup is None:
        return
    after = lookup.after(torch.from_numpy(codes)).reshape(40, actions, count).numpy()
    for action in range(actions):
        np.testing.assert_array_equal(after[:, action], trees.after(codes, action, np.arange(count)))


def test_too_many_answers_are_not_written_down():
    table = np.array([[place, 0, place + 1, 12] for place in range(12)] + [[0, 0, -1, -1]])
    assert look_up(np.array([[0, 0, -1, -1]]), np.zeros((1, 1), int), np.array([[0]]), 3) is not None
    assert look_up(table, np.zeros((1, 1), int), np.arange(64)[None], 17) is None


def test_causes():
    table = np.array([[1, 2, 1, 2], [-1, 5, -1, -1], [2, 1, 3, 4], [0, 0, -1, -1], [0, 0, -1, -1]])
    assert causes(table, 0, 3) == {(1, 2)}, "if place 1 shows 2 it changes; whatever place 2 shows, it stays"
    assert causes(np.array([[1, 2, 1, 2], [0, 0, -1, -1], [-1, 5, -1, -1]]), 0, 3) is None, "a change without a yes"
    assert causes(np.array([[1, 0, -1, -1]]), 0, 3) is None, "always a copy"
