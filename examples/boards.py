"""What the larger examples share: worlds whose state is a board of kinds, with rules for many boards at once.

A kind says what is in a cell, and every kind has a sprite: the frame shows the whole state. A level is a seed. The game
goes on past the goal, and `info` says when it is solved.

Shapes: N boards of R × C cells with kinds below K, sprites of h × w pixels, A actions, E episodes of T steps.
"""

from __future__ import annotations

import gymnasium
import numpy as np
import torch

from pixelplan import InputError


class BoardWorld(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    action_names: tuple[str, ...]
    sprites: np.ndarray
    """[K,h,w,3] uint8."""
    cells: tuple[int, int]
    """Rows and columns of a board."""
    steps: int | None = None
    """How many steps every level's start is from the goal, if the user asked for a number."""

    def __init__(self, render_mode: str | None = "rgb_array") -> None:
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(len(self.action_names))
        rows, columns = self.cells
        height, width = self.sprites.shape[1:3]
        self.observation_space = gymnasium.spaces.Box(0, 255, (rows * height, columns * width, 3), np.uint8)

    def begin(self, seed: int | None) -> np.ndarray:
        """The board [R,C] that a level begins with."""
        raise NotImplementedError

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """The boards [N,R,C] after an action [N] on each of boards [N,R,C]."""
        raise NotImplementedError

    def goals(self) -> np.ndarray:
        """[G,R,C] boards of the level, any of which is its goal."""
        raise NotImplementedError

    def solved(self, boards: np.ndarray) -> np.ndarray:
        """Which [N] of the boards [N,R,C] are solved."""
        return (boards[:, None] == self.goals()).all((2, 3)).any(1)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self.board = self.begin(seed).astype(np.uint8)
        return self.render(), {"solved": False}

    def step(self, action: int):
        self.board = self.move(self.board[None], np.array([int(action)]))[0]
        solved = bool(self.solved(self.board[None])[0])
        return self.render(), float(solved), False, False, {"solved": solved}

    def render(self) -> np.ndarray:
        return self.draw(self.board[None])[0]

    def goal_frame(self) -> np.ndarray:
        return self.draw(self.goals()[:1])[0]

    def goal_frames(self) -> np.ndarray:
        return self.draw(self.goals())

    def draw(self, boards: np.ndarray) -> np.ndarray:
        """The frames [N,H,W,3] of boards [N,R,C]."""
        return self.sprites[boards].swapaxes(2, 3).reshape(len(boards), *self.observation_space.shape)

    def after(self, boards: np.ndarray) -> np.ndarray:
        """The boards [N,A,R,C] after every action on boards [N,R,C]."""
        count = len(self.action_names)
        actions = np.tile(np.arange(count), len(boards))
        return self.move(np.repeat(boards, count, axis=0), actions).reshape(len(boards), count, *self.cells)

    def oracle(self) -> TrueRules:
        """The true rules as a model."""
        return TrueRules(self)

    def replay(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What episodes with actions [E,T] show: distinct frames [n,H,W,3] and indices into them [E,T+1]."""
        boards = np.empty((len(actions), actions.shape[1] + 1, *self.cells), np.uint8)
        boards[:, 0] = self.board
        for step in range(actions.shape[1]):
            boards[:, step + 1] = self.move(boards[:, step], actions[:, step].astype(np.int64))
        first, which = distinct(boards.reshape(-1, *self.cells))
        return self.draw(boards.reshape(-1, *self.cells)[first]), which.reshape(boards.shape[:2])


def distinct(boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first occurrences [n] among boards [N,R,C], and which of them each board [N] equals."""
    rows = np.ascontiguousarray(boards.reshape(len(boards), -1))
    keys = rows.view(np.dtype((np.void, rows.shape[1]))).reshape(-1)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = first.argsort()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[which.reshape(-1)]


class Layers:
    """Boards by their steps to the goal, as far as needed, for worlds in which every move can be undone."""

    def __init__(self, world: BoardWorld, goal: np.ndarray) -> None:
        """From the goal [R,C]."""
        self._world, self._layers = world, [goal[None].astype(np.uint8)]
        self._sorted = [_names(self._layers[0])]

    def layer(self, steps: int) -> np.ndarray | None:
        """The boards [n,R,C] that are `steps` from the goal; None if there are none."""
        while len(self._layers) <= steps and len(self._layers[-1]):
            boards = self._world.after(self._layers[-1]).reshape(-1, *self._world.cells)
            known = np.concatenate([*self._layers[-2:], boards])
            first, _ = distinct(known)
            self._layers.append(known[first[first >= len(known) - len(boards)]])
            self._sorted.append(np.sort(_names(self._layers[-1])))
        return self._layers[steps] if steps < len(self._layers) and len(self._layers[steps]) else None

    def draw(self, steps: int, random: np.random.Generator) -> np.ndarray:
        """A random board [R,C] that is `steps` from the goal; a ValueError if there is none."""
        boards = self.layer(steps)
        if boards is None:
            raise ValueError(f"no board is {steps} steps from the goal")
        return boards[random.integers(len(boards))]

    def way(self, board: np.ndarray) -> tuple[int, ...]:
        """Shortest actions from a board [R,C] to the goal; looks at all boards that are nearer."""
        taken: list[int] = []
        steps = 0
        while not self._among(board[None], steps)[0]:
            steps += 1
        for left in range(steps - 1, -1, -1):
            there = self._world.after(board[None])[0]
            taken.append(int(self._among(there, left).argmax()))
            board = there[taken[-1]]
        return tuple(taken)

    def _among(self, boards: np.ndarray, steps: int) -> np.ndarray:
        """Which [N] of the boards [N,R,C] are `steps` from the goal."""
        self.layer(steps)
        names, all_ = _names(boards), self._sorted[steps]
        return all_[np.searchsorted(all_, names).clip(max=len(all_) - 1)] == names


def _names(boards: np.ndarray) -> np.ndarray:
    """Boards [N,R,C] as sortable words [N], equal if the boards are."""
    rows = np.ascontiguousarray(boards.reshape(len(boards), boards.shape[1] * boards.shape[2]), np.uint8)
    return rows.view(f"S{rows.shape[1]}").reshape(-1)


class TrueRules:
    """The true rules of a world behind the `Model` protocol, for `--model oracle`: a one for the kind in each cell.

    With it, any miss is the search's own fault.
    """

    threshold = 0.5
    noisy = False
    discrete = True

    def __init__(self, world: BoardWorld) -> None:
        self._world = world
        self.layout = (*world.cells, len(world.sprites))

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3]."""
        (rows, columns, kinds), (height, width) = self.layout, self._world.sprites.shape[1:3]
        cells = frames.reshape(len(frames), rows, height, columns, width, 3).swapaxes(2, 3)
        cells, looks = cells.reshape(len(frames), rows * columns, -1), self._world.sprites.reshape(kinds, -1)
        codes = np.zeros((*cells.shape[:2], kinds), np.float32)
        for kind, look in enumerate(looks):
            codes[..., kind] = (cells == look).all(2)
        if not codes.any(2).all():
            raise InputError("a frame shows something that this world does not have")
        return torch.from_numpy(codes.reshape(len(frames), -1))

    def context(self, frame: np.ndarray) -> None:
        """Nothing: the rules are the same everywhere."""

    def step(self, z: torch.Tensor, context: None) -> torch.Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""
        rows, columns, kinds = self.layout
        boards = z.view(len(z), rows, columns, kinds).argmax(3).to(torch.uint8).numpy()
        after = torch.from_numpy(self._world.after(boards)).long()  # [N,A,R,C]
        codes = torch.zeros(*after.shape, kinds).scatter_(4, after.unsqueeze(4), 1.0)
        return codes.flatten(2)
