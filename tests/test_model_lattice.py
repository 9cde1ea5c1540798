"""The lattice of `picture`: worlds drawn in tiles are cut along them, whatever the size of a tile."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.model.families.lattice import bits_per_pixel, briefest, fit_lattice
from pixelplan.model.families.picture import PictureConfig
from tests.tiny_world import play


def tiled(cells: int, tile: int, frames: int = 60) -> np.ndarray:
    """Frames [N,H,W,3] of random boards whose cells show one of three tiles."""
    random = np.random.default_rng(0)
    tiles = random.integers(0, 256, (3, tile, tile, 3), np.uint8)
    boards = tiles[random.integers(3, size=(frames, cells, cells))]  # [N,r,c,t,t,3]
    return boards.swapaxes(2, 3).reshape(frames, cells * tile, cells * tile, 3)


@pytest.mark.parametrize(("cells", "tile"), [(9, 8), (6, 8), (8, 8), (7, 12), (19, 8), (10, 16), (5, 30), (25, 4)])
def test_tiles_are_cut_alike(cells, tile):
    frames = tiled(cells, tile)
    chosen = briefest(PictureConfig(), frames)
    (height, _), patch = chosen.seen(*frames.shape[1:3])
    assert (tile * height / frames.shape[1]) % patch == 0
    assert 12 <= -(-height // patch) <= 32


def test_without_tiles_it_stays_as_fine_as_it_is():
    frames = np.random.default_rng(0).integers(0, 256, (40, 64, 64, 3), np.uint8)
    assert briefest(PictureConfig(), frames) == PictureConfig()


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
    frames = np.zeros((2, height, width, 3), np.uint8)
    chosen = briefest(PictureConfig(patches=patches), frames)
    assert 1 <= chosen.patches <= 40
    assert bits_per_pixel(frames, *chosen.seen(height, width)) > 0
