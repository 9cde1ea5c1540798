"""How likely plans are to succeed: learned from records, shown and refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.solve import solve
from pixelplan.evaluation.chance import Chance, learn_chance, read_chance
from pixelplan.planning import OneShotConfig
from pixelplan.planning.plan import LatentGraph, Plan
from pixelplan.reports.summaries import story
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command


def plan(steps: int, reached: bool = True, far: float = 0.0) -> Plan:
    graph = LatentGraph(np.zeros((1, 2), np.float32), np.zeros((1, 1), np.int32), *np.zeros((3, 1), np.int32))
    return Plan((0,) * steps, reached, np.zeros((1, 2), np.float32), (0,), (), graph, 0.0, far)


def level(found: bool, solved: bool, planned: int, far: float = 0.0) -> dict[str, object]:
    return {"found": found, "solved": solved, "planned": planned, "far": far}


def test_longer_plans_are_less_likely_if_they_were():
    """A model that errs in one of a hundred steps: chances are near the truth for plans of any length."""
    random = np.random.default_rng(0)
    steps = random.integers(1, 200, size=2000)
    chance = learn_chance([level(True, bool(random.random() < 0.99**n), int(n)) for n in steps])
    for n in (10, 40, 150):
        assert chance(plan(n)) == pytest.approx(0.99**n, abs=0.08)


def test_what_ends_far_from_the_goal_is_less_likely_if_it_was():
    random = np.random.default_rng(0)
    levels = [level(True, bool(random.random() > far), 10, float(far)) for far in random.random(1000)]
    chance = learn_chance(levels)
    assert chance(plan(10, far=0.1)) > 0.75 > 0.3 > chance(plan(10, far=0.9))


def test_nothing_is_certain():
    chance = learn_chance([level(True, True, 20)] * 98 + [level(False, False, 3)] * 8)
    assert 0.95 < chance(plan(20)) < 1 and chance(plan(3, reached=False)) == pytest.approx(0.1)
    assert learn_chance([level(False, False, 1)] * 20).weights == pytest.approx((0, 0, 0), abs=1e-3)


def test_records_say_how_sure_plans_are(tmp_path):
    record = tmp_path / "validation.json"
    known = evaluate("ice-slider", "1000:1025", planner="one-shot", out=record)
    assert all(episode.found is not None and episode.chance is None for episode in known.episodes)
    judged = evaluate("ice-slider", "3000:3003", planner="one-shot", calibration=record)
    assert judged.calibration == str(record) and all(0 < (episode.chance or 0) < 1 for episode in judged.episodes)
    printed = story(*solve("ice-slider", 3000, calibration=record))
    assert "the first plan was predicted to succeed with a chance of 0.9" in printed
    other = OneShotConfig(node_limit=77)
    with pytest.raises(InputError, match=r"records plans with other config: node_limit 2048, not 77$"):
        evaluate("ice-slider", "3000:3003", planner="one-shot", calibration=record, config=other)
    with pytest.raises(InputError, match="records plans with other weights: "):
        evaluate("digit-jump", "3000:3003", planner="one-shot", calibration=record)
    with pytest.raises(InputError, match="planners that search a model"):
        evaluate("ice-slider", "3000:3003", planner="image-search", calibration=record)


def test_a_record_that_tells_nothing_is_refused(tmp_path):
    path = tmp_path / "record.json"
    for record, why in (({"episodes": []}, "not a record of one-shot"), ([], "not a record of one-shot")):
        path.write_text(json.dumps(record))
        with pytest.raises(InputError, match=why):
            read_chance(path, {})
    path.write_text(json.dumps({"planner": "one-shot", "episodes": [level(True, True, 3)] * 19}))
    with pytest.raises(InputError, match="records 19 plans; at least 20 are needed"):
        read_chance(path, {})
    good = level(True, True, 3)
    odd = [7, None, [], {**good, "planned": "x"}, {**good, "planned": -1}, {**good, "found": 2}, {**good, "far": 1e308}]
    path.write_text(json.dumps({"planner": "one-shot", "episodes": [good] * 19 + odd}))
    with pytest.raises(InputError, match="records 19 plans"):
        read_chance(path, {})


def test_the_command_refuses_it_in_one_sentence(tmp_path):
    arguments = ("evaluate", "--env", "ice-slider", "--levels", "0:2", "--calibration", str(tmp_path / "none.json"))
    assert "none.json" in one_sentence(run_command(*arguments, code=2))


def test_chances_are_numbers_whatever_the_plan():
    chance = Chance((5.0, -300.0, 0.0), 0.1)
    assert 0 < chance(plan(10_000)) < 1e-9 and 0 < chance(plan(0)) < 1
