"""The picture itself as the latent: a few numbers for each patch of a fine lattice, and a network that repaints them.

Nothing is assumed about a grid, about what moves or about how many things there are. The encoder is fixed before
training: a patch is described by its products with the few patterns that differ most between frames of one level
(their principal components). So the prediction targets never move, nothing can collapse, and predictions can be drawn.

Shapes: N images, L levels of S states, A actions, c features a patch, a lattice of R × C patches; d = c·R·C.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pixelplan.data.spread import evenly_spread
from pixelplan.model.batches import LevelBatch, LevelPlay, sample_frames, to_images
from pixelplan.model.metrics import rollout_exactness
from pixelplan.model.networks import Networks
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.repaint import Patches, Repaint
from pixelplan.model.sizes import Sizes

UNUSED = 1e6
"""A feature that no patch has."""


class Picture(Networks):
    """Patches as they look, and what each action turns them into."""

    version = 16
    averages_weights = True
    moved_by_muon = True  # it needs about half of AdamW's updates here
    until_learned = True
    keeps_margin = False
    changes_colours = False
    scattered = True
    halves_precision = True
    takes_any_size = True
    basis: Tensor
    centre: Tensor
    still: Tensor
    known: Tensor
    words: Tensor
    exact_words: Tensor

    def __init__(self, config: PictureConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        size, side = config.seen(sizes.height, sizes.width)
        self.patches = Patches((sizes.height, sizes.width), size, side)
        self.register_buffer("basis", torch.zeros(config.features, 3, side, side))
        self.register_buffer("centre", torch.zeros(config.features))
        self.register_buffer("still", torch.zeros(()))
        self.register_buffer("known", torch.zeros(()))
        self.register_buffer("words", torch.full((config.words, config.features), UNUSED))
        self.register_buffer("exact_words", torch.zeros((), dtype=torch.bool))
        self.dynamics = Repaint(config, sizes.actions, self.patches)

    @torch.no_grad()
    def prepare(self, levels: Sequence[LevelPlay]) -> None:
        """Find the patterns: principal components of how patches differ between two frames of one level."""
        differences, patches = [], []
        for level in (levels[place] for place in evenly_spread(len(levels), self.config.pattern_levels)):
            if len(level.frames) < 2:
                continue
            chosen = level.frames[evenly_spread(len(level.frames), self.config.pattern_level_frames)]
            cut = self.patches.cut(to_images(np.asarray(chosen)))  # [n,R·C,3·w·w]
            difference = (cut - cut.roll(1, 0)).flatten(0, 1)
            changed = difference.abs().amax(1) > 0
            differences.append(difference[changed])
            patches.append(cut.flatten(0, 1)[changed])
        if not differences:
            return  # nothing ever changes, and `race` reports it
        apart = torch.cat(differences)
        _, vectors = torch.linalg.eigh((apart.T @ apart) / max(1, len(apart)))
        chosen = vectors[:, -self.config.features :].flip(1)
        spread = (apart @ chosen).std(0).clamp(min=self.config.unchanged)  # [c]
        scale = spread**self.config.whitening * spread[0] ** (1 - self.config.whitening)
        count = chosen.shape[1]  # fewer than c if a patch is a single pixel
        self.basis[:count] = (chosen / scale).T.reshape(count, *self.basis.shape[1:])
        self.centre[:count] = (torch.cat(patches) @ chosen).median(0).values / scale
        self._learn_words(levels)

    def _learn_words(self, levels: Sequence[LevelPlay]) -> None:
        """Remember the most common looks of patches."""
        frames = sample_frames(levels, self.config.word_frames)
        described = [self._features(to_images(part)).permute(0, 2, 3, 1).flatten(0, 2) for part in frames]
        features = torch.cat(described)  # [n,c]
        rounded = (features * self.config.word_fineness).round()
        looks, which, counts = torch.unique(rounded, dim=0, return_inverse=True, return_counts=True)
        exact = torch.zeros_like(looks).index_copy(0, which, features)  # one of those that round to the same
        common = counts.argsort(descending=True, stable=True)[: len(self.words)]
        self.words[: len(common)] = exact[common]

    def encode(self, images: Tensor) -> Tensor:
        """Features [N,c·R·C] of images [N,3,H,W]."""
        return self._features(images).flatten(1)

    def _features(self, images: Tensor) -> Tensor:
        return functional.conv2d(self.patches.scale(images), self.basis, stride=self.patches.side) - self.centre.view(
            -1, 1, 1
        )

    def context(self, images: Tensor) -> Tensor:
        """Features [L,width+c,R,C] of one image [L,3,H,W] of each level: the learned ones, and its embedding."""
        with torch.autocast(images.device.type, enabled=False):
            features = self._features(images)
        return torch.cat([self.dynamics.look(self.patches.scale(images)), features], 1)

    def step(self, z: Tensor, context: Tensor) -> Tensor:
        """Features [L,S,A,c·R·C] after each action in z [L,S,c·R·C]."""
        levels, states = z.shape[:2]
        now = z.reshape(levels * states, self.config.features, *context.shape[-2:])
        context = context.repeat_interleave(states, 0)
        change = self.dynamics(now, context)  # [L·S,A,c,R,C]
        moves = change.pow(2).sum(2, keepdim=True) > self.still
        after = now.unsqueeze(1) + change * moves
        seen = self._seen(context).unsqueeze(1)
        again = moves & ((after - seen).pow(2).sum(2, keepdim=True) < self.known)
        after = torch.where(again, seen, after)
        if self.exact_words:
            after = self._in_words(after, (moves & ~again).squeeze(2))
        return after.flatten(2).unflatten(0, (levels, states))

    def _seen(self, context: Tensor) -> Tensor:
        """The features [L,c,R,C] of the frame that a context [L,width+c,R,C] was made from."""
        return context[:, -self.config.features :]

    def _in_words(self, features: Tensor, chosen: Tensor) -> Tensor:
        """Features [N,A,c,R,C], with those of the chosen patches [N,A,R,C] replaced by the nearest remembered look."""
        last = features.movedim(2, -1).clone()  # [N,A,R,C,c]
        words = self.words[: int((self.words[:, 0] < UNUSED).sum())]
        last[chosen] = words[torch.cdist(last[chosen], words).argmin(1)]
        return last.permute(0, 1, 4, 2, 3)  # ONNX cannot movedim an indexed tensor

    @torch.no_grad()
    def settle(self, levels: Sequence[LevelPlay]) -> None:
        """Find below what size a predicted change is no change, and which predictions mean what was seen before.

        A patch whose change is smaller stays exactly as it is, so that rollouts of any length do not drift. Held-out
        steps decide: the bound is the one with the fewest mistakes about which patches change, or the middle of a range
        of such bounds. When something moves away, the level's one known frame often shows what is behind it. If a
        changed patch is predicted nearly as in that frame, it becomes exactly that; this bound is found in the same
        way. Other changed patches may be replaced by the nearest remembered look. That makes them exact if a world has
        few looks, and does harm if levels have looks of their own. Held-out rollouts decide about each of the two.
        """
        still, known = self._settle_bounds(levels)
        self.still.copy_(still)
        right = {}
        for again, words in product((False, True), repeat=2):
            self.known.copy_(again * known)
            self.exact_words.fill_(words)
            right[again, words] = sum(rollout_exactness(self, levels, self.config.word_rollouts).values())
        again, words = max(reversed(right), key=lambda choice: right[choice])
        self.known.copy_(again * known)
        self.exact_words.fill_(words)

    def _settle_bounds(self, levels: Sequence[LevelPlay]) -> tuple[Tensor, Tensor]:
        """The bounds below which a change is no change, and a distance to what is known is no distance."""
        moving, resting, other, again = [], [], [], []
        for level in (levels[place] for place in evenly_spread(len(levels), self.config.still_levels)):
            before, action, after = level.steps.T
            images = to_images(np.asarray(level.frames))
            features = self._features(images)
            predicted = self.dynamics(features, self.context(images[:1]))[before, action]
            changed = self._differ(features[after], features[before])  # [m,R,C]
            size = predicted.pow(2).sum(1)
            moving.append(size[changed])
            resting.append(size[~changed])
            new = self._differ(features[after], features[:1])
            away = (features[before] + predicted - features[:1]).pow(2).sum(1)
            other.append(away[changed & new])
            again.append(away[changed & ~new])
        return self._bound(torch.cat(resting), torch.cat(moving)), self._bound(torch.cat(again), torch.cat(other))

    def _differ(self, features: Tensor, others: Tensor) -> Tensor:
        """[m,R,C] whether patches with features [m,c,R,C] look different."""
        return (features - others).abs().amax(1) > self.config.unchanged

    def _bound(self, below: Tensor, above: Tensor) -> Tensor:
        """The bound between two sets of squared lengths that leaves the fewest of them on the wrong side."""
        bounds = torch.logspace(
            math.log10(self.config.least_still), math.log10(self.config.largest_still), self.config.still_bounds
        )
        lost = torch.searchsorted(above.sort().values, bounds)
        leaking = len(below) - torch.searchsorted(below.sort().values, bounds)
        mistakes = lost + leaking
        fewest = torch.nonzero(mistakes == mistakes.min()).flatten()
        return bounds[fewest[len(fewest) // 2]]

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """How far the features predicted after each step are from the true ones, given slightly wrong features before.

        A patch that the step does not change should stay as it is, noise and all. If the network had to remove all
        noise, that would be nine tenths of the loss, and rare things would be learned last. Its own errors, however,
        it learns to correct everywhere.
        """
        with torch.no_grad(), torch.autocast(batch.images.device.type, enabled=False):  # targets are never rounded
            features = self._features(batch.images)
            bad = torch.rand_like(features[:, :1]) < self.config.bad_patches
            worse = 1 + (self.config.bad_noise - 1) * bad
            wrong = features + self.config.noise * worse * torch.randn_like(features)
        context = self.context(batch.images[batch.contexts])[batch.places[:, 0]]
        before, after = batch.images_of_steps()
        actions = batch.steps[:, 2]
        with torch.no_grad():
            chosen = self._steps_to_predict(before, after)
            predicted = self._after(features, context, before[chosen], actions[chosen]).float()
            truth = features[after[chosen]]
            helps = _squared(predicted - truth) < _squared(features[before[chosen]] - truth)  # better than no change
            replaced = after[chosen[helps]]
            noise = wrong - features
            noise[replaced] = 0
            wrong[replaced] = predicted[helps]
            change = (features[after] - features[before]).abs().amax(1, keepdim=True)  # [M,1,R,C]
            stays = change < self.config.unchanged
            target = features[after] + stays * noise[before]
        loss = self.config.loss_scale * _squared(self._after(wrong, context, before, actions) - target).mean()
        return {"forward": loss, "total": loss}

    def _steps_to_predict(self, before: Tensor, after: Tensor) -> Tensor:
        """[k] a random choice of the steps, given by the images before and after [M], that lead to where others begin.

        At most one of them leads to each image.
        """
        steps = torch.nonzero(torch.isin(after, before) & (after != before)).flatten()
        steps = steps[torch.randperm(len(steps), device=steps.device)]
        order = after[steps].argsort(stable=True)
        targets = after[steps[order]]
        first = torch.ones_like(targets, dtype=torch.bool)
        first[1:] = targets[1:] != targets[:-1]
        steps = steps[order[first]]
        return steps[torch.rand(len(steps), device=steps.device) < self.config.predicted]

    def _after(self, features: Tensor, context: Tensor, before: Tensor, actions: Tensor) -> Tensor:
        """Features [M,c,R,C] after actions [M] in the images `before` [M], from all images' features and contexts.

        Each image is read once, however many steps begin in it.
        """
        begun, row = torch.unique(before, return_inverse=True)
        return features[before] + self.dynamics(features[begun], context[begun])[row, actions]

    def resized(self, height: int, width: int) -> Picture:
        """The same weights, and not a copy of them, on a larger or smaller lattice of patches of the same size."""
        other = copy.copy(self)
        other.sizes = self.sizes.resized(height, width)
        return other

    def looks(self) -> Tensor:
        """[c·R·C] One over the length of each feature's basis: small for features that were scaled up."""
        long = 1 / self.basis.flatten(1).norm(dim=1).clamp(min=self.config.unchanged)  # [c]
        return long.repeat_interleave(self.sizes.rows * self.sizes.columns)

    def shown(self, z: Tensor, image: Tensor) -> Tensor:
        """Pictures [N,3,H,W] of embeddings z [N,d], in a level with one known image [3,H,W]."""
        features = self._features(image[None])
        difference = z.reshape(-1, *features.shape[1:]) - features
        flat = self.basis.flatten(1)  # [c,3·w·w], orthogonal rows
        patterns = (flat / flat.pow(2).sum(1, keepdim=True).clamp(min=1e-9)).view_as(self.basis)
        painted = functional.conv_transpose2d(difference, patterns, stride=self.patches.side)
        return (image + self.patches.scale_back(painted)).clamp(-0.5, 0.5)


def _squared(differences: Tensor) -> Tensor:
    """[M] the squared lengths of differences [M,c,R,C]."""
    return differences.pow(2).sum((1, 2, 3))
