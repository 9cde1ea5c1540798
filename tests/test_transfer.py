"""Boards of another size than those that a model was trained on."""

import pytest
import torch
from PIL import Image

import pixelplan
from pixelplan.cli import main
from pixelplan.envs import get_level, make_puzzle
from pixelplan.model.batches import level_plays
from pixelplan.model.families import family_of
from pixelplan.model.families.position import spread_codes
from pixelplan.model.metrics import step_errors
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError
from tests.test_model_families import SMALL
from tests.tiny_world import play

TAKE_OTHERS = {"position", "noisy"}
"""The families that take boards of another size."""


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_family_takes_other_boards_or_says_that_it_does_not(name):
    data, larger = play(levels=2), play(levels=2, size=6)
    model = WorldModel(*family_of(SMALL[name]).fit(SMALL[name], None, data), threshold=0.5)
    assert model.for_frames(16, 16) is model
    if name not in TAKE_OTHERS:
        with pytest.raises(InputError, match="takes frames of 16 × 16 pixels only; frames of 24 × 24 need a model"):
            model.for_frames(24, 24)
        return
    other = model.for_frames(24, 24)
    assert other is model.for_frames(24, 24), "made once"
    z = other.encode(larger.frames[:3])
    assert other.step(z, other.context(larger.frames[0])).shape == (3, 5, z.shape[1])
    with pytest.raises(InputError, match="no whole number of cells of"):
        model.for_frames(24, 26)
    with pytest.raises(InputError, match="4096 cells at most"):
        model.for_frames(1000, 1000)


def test_rules_learned_on_small_boards_hold_on_others(tmp_path):
    data = play(levels=12)
    model = pixelplan.train(
        data, tmp_path / "model", "tiny", model=SMALL["position"], updates=200, quiet=True, threads=1
    )
    for size in (3, 6, 9):
        others = play(levels=5, size=size, seed=1)
        errors = step_errors(model.for_frames(4 * size, 4 * size), level_plays(others))
        assert errors.accuracy(model.threshold) > 0.95, size


def test_slides_grow_with_the_board_and_short_steps_do_not():
    slider, walker = Sizes(64, 64, 5, 8, 8, reach=7), Sizes(64, 64, 5, 8, 8, reach=1)
    assert slider.resized(128, 64) == Sizes(128, 64, 5, 16, 8, reach=7, glide=15)
    assert slider.resized(32, 32).glide == 3
    assert walker.resized(128, 128).glide == 1
    assert Sizes(64, 64, 5, 8, 8, reach=6).resized(128, 128).glide == 6


@pytest.mark.parametrize(("cells", "dimensions"), [(36, 16), (256, 16), (400, 32)])
def test_new_codes_are_far_apart_and_always_the_same(cells, dimensions):
    codes = spread_codes(1, cells, dimensions)
    assert torch.equal(codes, spread_codes(1, cells, dimensions))
    apart = torch.cdist(codes[0], codes[0]) + 9 * torch.eye(cells)
    assert apart.min() > 1.0


@pytest.mark.parametrize("env", ["ice-slider", "digit-jump"])
@pytest.mark.parametrize("size", [6, 16])
def test_shipped_models_plan_on_boards_that_they_have_never_seen(env, size):
    puzzle = make_puzzle(env, size=size, pixels=8 * size)
    result = pixelplan.evaluate(puzzle, "1000:1003", planner="one-shot")
    assert result.success == result.optimal == 1.0
    level = get_level(puzzle, 1000)
    frames = level.frame(level.start), level.frame(level.goal)
    model = pixelplan.load(env)
    plan = pixelplan.plan(model, *frames)
    assert plan.reached and plan.actions == pixelplan.plan(pixelplan.load(env, frames[0].shape[:2]), *frames).actions


def test_pictures_of_other_boards_on_the_command_line(tmp_path, capsys):
    level = get_level(make_puzzle("ice-slider", size=12, pixels=96), 1000)
    for name, state in (("now", level.start), ("wanted", level.goal)):
        Image.fromarray(level.frame(state)).save(tmp_path / f"{name}.png")
    pictures = ["--frame", str(tmp_path / "now.png"), "--goal", str(tmp_path / "wanted.png"), "--model", "ice-slider"]
    assert main(["solve", *pictures, "--other-size"]) == 0
    assert capsys.readouterr().out.startswith("a plan of")
    assert main(["solve", "--env", "ice-slider", "--level", "1000", "--other-size"]) == 2
    options = ["--option", "size=12", "pixels=96"]
    assert main(["solve", "--env", "ice-slider", "--level", "1000", *options]) == 0
    assert "solved" in capsys.readouterr().out
    assert main(["solve", "--env", "ice-slider", "--level", "1000", "--option", "size=16"]) == 2
    assert "with pixels/size=4 it needs a model of its own" in capsys.readouterr().err
