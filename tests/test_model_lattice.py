"""The lattice of `picture`: worlds drawn in tiles are cut along them, whatever the size of a tile."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pixelplan.model.batches import to_images
from pixelplan.model.lattice import best_lattice, bits_per_pixel, fit_lattice, lost_share
from pixelplan.model.picture_config import PictureConfig
from tests.tiny_world import play


def tiled(cells: int, tile: int, frames: int = 60) -> np.ndarray:
    """Frames [N,H,W,3] of random boards whose cells show one of four tiles with a pattern."""
    random = np.random.default_rng(0)
    patterns = random.integers(0, 256, (4, 3, 3, 3), np.uint8)
    tiles = np.stack([np.array(Image.fromarray(pattern).resize((tile, tile), 0)) for pattern in patterns])
    boards = tiles[random.integers(4, size=(frames, cells, cells))]  # [N,r,c,t,t,3]
    return boards.swapaxes(2, 3).reshape(frames, cells * tile, cells * tile, 3)


def chosen(frames: np.ndarray, config: PictureConfig = PictureConfig()) -> PictureConfig:  # noqa: B008 (frozen)
    return best_lattice(config, [to_images(frames)], frames.shape[1:3])


@pytest.mark.parametrize(("cells", "tile"), [(9, 8), (6, 8), (8, 8), (7, 12), (19, 4), (10, 8), (5, 12), (25, 4)])
def test_tiles_are_cut_alike(cells, tile):
    patches = chosen(tiled(cells, tile)).patches
    assert patches % cells == 0 and 12 <= patches <= 32


@pytest.mark.parametrize(("cells", "pixels"), [(15, 64), (7, 64), (9, 64), (13, 80)])
def test_tiles_need_not_have_whole_pixels(cells, pixels):
    large = tiled(cells, 12)
    frames = np.stack(
        [np.array(Image.fromarray(frame).resize((pixels, pixels), Image.Resampling.BOX)) for frame in large]
    )
    assert chosen(frames).patches % cells == 0


def test_if_nothing_changes_it_is_as_fine_as_usual():
    assert chosen(np.zeros((6, 64, 64, 3), np.uint8)) == PictureConfig()


def test_losses_below_the_least_one_count_as_equal():
    """Then only the length of the description decides, and how far a lattice is from the usual one."""
    torch.manual_seed(0)
    smooth = torch.nn.functional.interpolate(torch.rand(12, 3, 9, 9), (72, 72), mode="bilinear") - 0.5
    patches = [best_lattice(PictureConfig(least_loss=least), [smooth], (72, 72)).patches for least in (1e-4, 1.0)]
    assert patches[0] != patches[1]


def test_more_numbers_lose_less():
    changes = torch.randn(4, 3, 16, 16)
    lost = [lost_share(changes, (16, 16), 4, numbers) for numbers in (0, 16, 64, 256, 768)]
    assert lost[0] == 1 and lost[-1] < 1e-6 and lost == sorted(lost, reverse=True)


def test_looks_that_repeat_are_described_briefly():
    """A change of light all over the frame outweighs what moves; the looks of tiles still show where they are."""
    frames = to_images(tiled(11, 8))
    lit = frames / 2 + 0.2 * (torch.arange(len(frames)) % 2).view(-1, 1, 1, 1)
    assert best_lattice(PictureConfig(), [lit], (88, 88)).patches == 22
    assert bits_per_pixel(lit, (88, 88), 4) < bits_per_pixel(lit, (96, 96), 6)


def test_settings_decide():
    data = play(levels=3)
    usual, sizes = fit_lattice(PictureConfig(), None, data)
    assert usual.coarsest == usual.finest == 1 and sizes == usual.sizes(*data.frames.shape[1:3], sizes.actions)
    assert fit_lattice(PictureConfig(patches=7, coarsest=1.0, finest=1.0), None, data)[0].patches == 7
    assert fit_lattice(usual, None, data) == (usual, sizes)
    few = PictureConfig(lattice_levels=1, lattice_frames=1)
    assert fit_lattice(few, None, data)[0].finest == 1


@settings(max_examples=30, deadline=None)
@given(height=st.integers(1, 40), width=st.integers(1, 200), patches=st.integers(1, 20))
def test_frames_of_any_size_have_a_lattice(height, width, patches):
    config = PictureConfig(patches=patches)
    (rows_seen, columns_seen), side = config.seen(height, width)
    assert rows_seen % side == columns_seen % side == 0 and max(rows_seen, columns_seen) <= 8 * patches
    sizes = config.sizes(height, width, 2)
    assert 1 <= sizes.rows <= patches and 1 <= sizes.columns <= patches
    assert chosen(np.zeros((2, height, width, 3), np.uint8), config) == config
