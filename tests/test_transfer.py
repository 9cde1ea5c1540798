"""Boards of another size, several worlds at once, and new worlds: what a model is good for beyond its training."""

import numpy as np
import pytest
import torch
from PIL import Image

import pixelplan
from pixelplan.by_name.open_model import check_world
from pixelplan.by_name.resolve import open_family
from pixelplan.cli import main
from pixelplan.data.dataset import open_trajectories
from pixelplan.families.position import spread_codes
from pixelplan.model import train_data
from pixelplan.model.batches import level_plays
from pixelplan.model.checkpoint import read_description
from pixelplan.model.find_family import family_of
from pixelplan.model.goal_test import GoalTestConfig
from pixelplan.model.metrics import step_errors
from pixelplan.model.passes import batch_order
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.sizes import Sizes
from pixelplan.model.train import train
from pixelplan.model.world_model import WorldModel
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.table_family import Tables
from pixelplan.reports.inspect_model import inspect_model
from pixelplan.types import InputError
from tests import tiny_world
from tests.test_model_families import SMALL, quick
from tests.tiny_world import play

TAKE_OTHERS = {"position", "noisy", "picture"}
"""The families that take boards of another size."""


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_family_takes_other_boards_or_says_that_it_does_not(name):
    data, larger = play(levels=2), play(levels=2, size=6)
    model = WorldModel(*family_of(SMALL[name]).fit(SMALL[name], None, data), threshold=0.5)
    assert model.for_frames(16, 16) is model
    if name not in TAKE_OTHERS:
        with pytest.raises(InputError, match="takes only frames of 16 × 16 pixels; frames of 24 × 24 need a model"):
            model.for_frames(24, 24)
        return
    other = model.for_frames(24, 24)
    assert other is model.for_frames(24, 24), "made once"
    z = other.encode(larger.frames[:3])
    assert other.step(z, other.context(larger.frames[0])).shape == (3, 5, z.shape[1])
    with pytest.raises(InputError, match="not a whole number of cells of"):
        model.for_frames(24, 25)
    with pytest.raises(InputError, match="at most 4096 cells"):
        model.for_frames(1000, 1000)


@pytest.fixture(scope="module")
def walker(tmp_path_factory):
    """The folder of a model that has learned to walk on boards of 4 × 4 cells."""
    folder = tmp_path_factory.mktemp("walker") / "model"
    train(play(levels=20), folder, quick("position", updates=400))
    return folder


@pytest.fixture(scope="module")
def painter(tmp_path_factory):
    """The same for the family `picture`."""
    folder = tmp_path_factory.mktemp("painter") / "model"
    train(play(levels=20), folder, quick("picture", updates=400))
    return folder


@pytest.mark.parametrize("folder", ["walker", "painter"])
def test_rules_learned_on_small_boards_hold_on_others(folder, request):
    model = pixelplan.load(request.getfixturevalue(folder))
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
    options = ["--option", "size=12", "pixels=96"]
    assert main(["solve", "--env", "ice-slider", "--level", "1000", *options]) == 0
    assert "solved" in capsys.readouterr().out
    assert main(["solve", "--env", "ice-slider", "--level", "1000", "--option", "size=16"]) == 2
    assert "with pixels/size=4 it needs a model of its own" in capsys.readouterr().err


def test_boards_of_other_sizes_of_your_own_environment(tmp_path, monkeypatch):
    """By default a larger board is shrunk to the model's frames; with --other-size it is a larger board."""
    world, model = ["--env", "examples.sokoban:make"], str(tmp_path / "model")
    small, large = (["--option", f"size={size}", "boxes=1"] for size in (6, 12))
    assert main(["collect", *world, *small, "--levels", "0:3", "--random", "--out", str(tmp_path / "data")]) == 0
    train(open_trajectories(tmp_path / "data"), model, quick("picture", goal_test=GoalTestConfig(updates=2)))
    seen, encode = set(), WorldModel.encode
    monkeypatch.setattr(WorldModel, "encode", lambda self, frames: seen.add(frames.shape[-3:]) or encode(self, frames))
    play_on = ["--model", model, "--planner", "one-shot", "--node-limit", "20"]
    for ask in (["evaluate", "--levels", "5:6"], ["solve", "--level", "5"]):
        for options in ([], ["--other-size"]):
            seen.clear()
            assert main([*ask, *world, *large, *play_on, *options]) == 0
            assert ((96, 96, 3) in seen) == bool(options)


def two_worlds(monkeypatch):
    """Recorded play of two worlds, of which the second has no action for staying."""
    first = play(levels=11)
    monkeypatch.setattr(tiny_world, "MOVES", tiny_world.MOVES[:4])
    return first, play(levels=5, seed=3)


@pytest.mark.parametrize("name", ["picture", "position"])
def test_one_model_of_two_worlds_is_the_same_each_time_and_after_resuming(name, tmp_path, monkeypatch):
    both = two_worlds(monkeypatch)
    whole = train(both, tmp_path / "whole", quick(name))
    train(both, tmp_path / "first", quick(name), until=0.5)
    resumed = train(both, tmp_path / "second", quick(name), after=tmp_path / "first")
    ours, theirs = whole.networks.state_dict(), resumed.networks.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    assert whole.sizes.actions == 5
    described = read_description(tmp_path / "whole")
    assert [world["actions"] for world in described["data"]["worlds"]] == [5, 4]
    assert described["validation_metrics"]["levels"] == 2 + 5, "a tenth of one, and all of the one with few levels"
    with pytest.raises(InputError, match="begun with other data"):
        train(both[:1], tmp_path / "whole", quick(name), resume=True)


def test_worlds_share_the_finest_lattice_that_fits_them_all():
    worlds_of_two_lattices = play(levels=3, size=6, cell=4), play(levels=3, size=4, cell=6)
    config = PictureConfig(patches=5, width=8, wide=16, coarsest=0.8, finest=1.2)
    apart = [family_of(config).fit(config, None, world)[1].rows for world in worlds_of_two_lattices]
    assert apart[0] != apart[1]
    settings, sizes = train_data.fit(config, None, worlds_of_two_lattices)
    assert sizes.rows == max(apart) == settings.patches
    with pytest.raises(InputError, match="ask for different grids: position finds 6 × 6 and 4 × 4 cells"):
        train_data.fit(SMALL["position"], None, worlds_of_two_lattices)


@pytest.fixture(scope="module")
def painter_of_two_sizes(tmp_path_factory):
    """The folder of a model that has learned to walk on boards of 4 × 4 and of 5 × 6 cells."""
    folder = tmp_path_factory.mktemp("two-sizes") / "model"
    train(boards_of_two_sizes(), folder, quick("picture", updates=300))
    return folder


def boards_of_two_sizes():
    return play(levels=20), play(levels=10, size=5, seed=3)


def test_a_model_of_two_sizes_plans_on_a_third(painter_of_two_sizes):
    model = pixelplan.load(painter_of_two_sizes)
    assert (model.sizes.height, model.sizes.width) == (16, 16), "that of the first data set"
    for size in (4, 5, 7):
        assert step_errors(model, level_plays(play(levels=3, size=size, seed=9))).exact > 0.95


def test_training_on_two_sizes_is_the_same_each_time_and_after_resuming(tmp_path):
    whole = train(boards_of_two_sizes(), tmp_path / "whole", quick("picture"))
    train(boards_of_two_sizes(), tmp_path / "first", quick("picture"), until=0.5)
    resumed = train(boards_of_two_sizes(), tmp_path / "second", quick("picture"), after=tmp_path / "first")
    ours, theirs = whole.networks.state_dict(), resumed.networks.state_dict()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    assert read_description(tmp_path / "whole")["validation_metrics"]["levels"] == 2 + 1


def test_the_frames_of_a_batch_have_one_size():
    levels = [level for world in boards_of_two_sizes() for level in level_plays(world)]
    order = batch_order(levels, 60, 5, np.random.default_rng(0)).reshape(60, 5)
    sides = np.array([[level.frames.shape[1] for level in levels]])[0][order]
    assert (sides == sides[:, :1]).all()
    assert 0.2 < (sides[:, 0] == 20).mean() < 0.47, "a third of the levels are large"
    assert set(order.ravel()) == set(range(30))


def test_sizes_whose_cells_differ_are_refused():
    unlike = play(levels=2), play(levels=2, size=3, cell=5)
    with pytest.raises(InputError, match="frames of 15 × 15 and 16 × 16 pixels cannot share a model"):
        train_data.fit(PictureConfig(patches=4, coarsest=1, finest=1), None, unlike)


def test_a_batch_has_levels_of_all_worlds(monkeypatch):
    first, second = two_worlds(monkeypatch)
    model = WorldModel(*train_data.fit(SMALL["position"], None, (first, second)))
    levels, held_out = train_data.split(model.networks, (first, second), (), held_out_every=10)
    assert len(levels) == 9 + 5 and len(held_out.by_family) == len(held_out.frames) == 2 + 5
    assert [int(level.actions.max()) for level in levels[:4]] == [4, 3, 4, 3], "in turn"


def test_a_world_with_fewer_actions_sees_only_its_own(monkeypatch):
    data, _ = two_worlds(monkeypatch)
    model = WorldModel(*train_data.fit(SMALL["position"], None, (data,)), threshold=0.5)
    z, context = model.encode(data.frames[:2]), model.context(data.frames[0])
    assert torch.equal(model.with_actions(4).step(z, context), model.step(z, context)[:, :4])
    assert model.with_actions(4).for_frames(24, 24).actions == 4


def test_a_model_of_several_worlds_is_one_of_each():
    several = {"worlds": [{"env": "ice-slider"}, {"env": "digit-jump", "options": {"look": "glyphs"}}]}
    for env in ("ice-slider", "digit-jump"):
        check_world("both", several, open_family(env))
    with pytest.raises(InputError, match="was trained on ice-slider; procgen-maze needs a model of its own"):
        check_world("both", several, Tables(PUZZLES["procgen-maze"](), "procgen-maze"))
    with pytest.raises(InputError, match="needs a model of its own"):
        check_world("both", several, open_family(make_puzzle("digit-jump", look="colours")))


def test_training_on_several_folders_from_the_command_line(tmp_path, capsys):
    folders = []
    for env, size in (("ice-slider", 4), ("digit-jump", 4), ("ice-slider", 5)):
        folders.append(["--data", str(tmp_path / f"{env}-{size}")])
        pixelplan.collect(make_puzzle(env, size=size, pixels=8 * size), "0:3", tmp_path / f"{env}-{size}")
    settings = ["--preset", "tiny", "--updates", "4", "--threads", "1"]
    out = ["--out", str(tmp_path / "model")]
    assert main(["train", *folders[0], *folders[2], *settings, *out]) == 2
    refusal = capsys.readouterr().err
    assert "frames of 32 × 32 and 40 × 40 pixels cannot share a model of the family position" in refusal
    assert main(["train", *folders[0], *folders[1], *settings, *out]) == 0
    capsys.readouterr()
    play_on = ["--levels", "5:6", "--planner", "one-shot", "--model", str(tmp_path / "model")]
    for env in ("ice-slider", "digit-jump"):
        assert main(["evaluate", "--env", env, "--option", "size=4", "pixels=32", *play_on]) == 0
    assert main(["train", *folders[0], *folders[1], *settings, "--on-policy", "1", "--out", str(tmp_path / "b")]) == 2
    assert "only one data set" in capsys.readouterr().err
    assert main(["train", *settings, "--out", str(tmp_path / "c")]) == 2


def test_training_starts_from_another_model(walker, tmp_path):
    data, held_out = play(levels=2, size=5, seed=7), play(levels=3, size=5, seed=8)
    few = quick("position", updates=20)
    from_nothing = train(data, tmp_path / "nothing", few, held_out)
    from_walker = train(data, tmp_path / "begun", few, held_out, init=walker)
    exact = [step_errors(model, level_plays(held_out)).exact for model in (from_walker, from_nothing)]
    assert exact[0] > exact[1] + 0.2, exact
    with pytest.raises(InputError, match="must use that family; picture was asked for"):
        train(data, tmp_path / "other", quick("picture"), init=walker)
    with pytest.raises(InputError, match="begun with other init"):
        train(data, tmp_path / "begun", few, held_out, resume=True, init=tmp_path / "nothing")


def test_models_are_inspected_on_boards_of_other_sizes(painter_of_two_sizes):
    larger = play(levels=3, size=7, seed=9)
    report = inspect_model(painter_of_two_sizes, larger).report
    assert "measured on     3 levels" in report
    with pytest.raises(InputError, match="not a whole number of cells of"):
        inspect_model(painter_of_two_sizes, play(levels=2, size=3, cell=7))
