"""Commands about world models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import UseAppendAction

if TYPE_CHECKING:
    from pixelplan.model.train_config import TrainConfig

Folders = Annotated[tuple[Path, ...], UseAppendAction]
"""Repeatable, as in --data A --data B."""


def train(
    *,
    data: Folders,
    out: Path,
    preset: Literal["auto", "picture", "vector", "ppgs", "rules", "spatial", "paper", "latent", "tiny"] = "auto",
    validation: Folders = (),
    init: str | None = None,
    resume: bool = False,
    env: str | None = None,
    on_policy: int = 0,
    on_policy_episodes: int = 5,
    on_policy_share: float = 0.375,
    inverse: bool = True,
    family: str | None = None,
    noisy: bool = False,
    grid: tuple[int, int] | None = None,
    updates: int | None = None,
    batch: int | None = None,
    learning_rate: float | None = None,
    threshold: Literal["calibrated", "half-margin"] | None = None,
    seed: int = 0,
    threads: int = 2,
    device: Literal["cpu", "cuda", "mps"] = "cpu",
    devices: int = 1,
    precision: Literal["auto", "32-true", "bf16-mixed"] | None = None,
) -> None:
    """Learn a world model from recorded play.

    Example: pixelplan train --data runs/ice-data --out runs/ice-model
    Example: pixelplan train --data runs/ice-data --data runs/digit-data --out runs/model-of-both

    Args:
        data: A folder written by collect. Several (--data A --data B) give one model for all their worlds. With the
            family picture, these may show boards of several sizes, if cells have the same number of pixels in all.
        out: The folder to write: weights, a readable config, metrics and a picture of the curves.
        preset: auto lets candidates race on held-out levels; picture and vector assume nothing; spatial is for worlds
            in which one thing moves on a grid; paper and latent are the paper's networks; tiny is for a quick look.
        validation: One or more other folders written by collect, to measure accuracy and set the threshold; by
            default a tenth of the levels.
        init: A model of the same family to start from, by its folder or the name of a shipped one; this helps if there
            are few levels. By default training starts from scratch.
        resume: Continue an interrupted training run, to exactly the same weights.
        env: Your own environment, in which the data was recorded (package.module:function or a Gymnasium id), for
            --on-policy; the puzzles need no --env.
        on_policy: How many times the planner plays the levels of the data during training, so that the model also
            learns from that play; it helps if random play does not get far.
        on_policy_episodes: Episodes that it then plays in each level, each as long as the data's.
        on_policy_share: The share of training, from its start, within which the planner plays.
        inverse: Train with the inverse model (without it, this is the paper's ablation).
        family: The latent: picture (patches as they look), vector (a point on a sphere), position (one thing on a
            grid), rules (what is in each cell of a grid) or another one (an unknown name lists all); by default two
            kinds of picture race, and held-out prediction decides.
        noisy: For worlds with noisy pixels but deterministic rules: frames of one state may all differ.
        grid: Rows and columns of the grid that position and rules use; by default read from what moves, or cells of 8
            pixels if frames are noisy.
        updates: Gradient steps; by default the preset's.
        batch: Levels in a gradient step, over all processes; by default the preset's.
        learning_rate: The peak of a one-cycle schedule; by default the preset's.
        threshold: Where the reidentification threshold comes from: calibrated on validation levels, or the paper's ε/2.
        seed: The same seed gives the same weights.
        threads: Processor cores to use.
        device: Where to compute.
        devices: Processes that share each batch.
        precision: The precision of computation; weights are stored in 32 bits. auto takes bfloat16 if the family learns
            as well with it and the processor is faster with it; by default the preset's.
    """
    from dataclasses import replace

    from pixelplan.by_name.open_model import find_model
    from pixelplan.cli.options import progress_bar
    from pixelplan.data.dataset import open_trajectories
    from pixelplan.model.checkpoint import read_description
    from pixelplan.model.race import train_best
    from pixelplan.reports.summaries import summarise_training
    from pixelplan.training.on_policy import on_policy_stages, only_world, open_data_world, train_in_stages
    from pixelplan.training.rehearsal import rehearse

    config = _chosen(preset, family, noisy, inverse)
    overrides: dict[str, Any] = {
        "updates": updates,
        "batch": batch,
        "learning_rate": learning_rate,
        "threshold": threshold,
        "precision": precision,
    }
    config = replace(
        config,
        grid=grid,
        seed=seed,
        threads=threads,
        device=device,
        devices=devices,
        **{name: value for name, value in overrides.items() if value is not None},
    )
    held_out = tuple(map(open_trajectories, validation)) or None
    worlds = tuple(map(open_trajectories, data))
    begin = None if init is None else find_model(init)
    if on_policy:
        stages, play = on_policy_stages(on_policy, on_policy_episodes, on_policy_share), only_world(worlds, begin)
        with progress_bar("the planner plays", "levels") as progress:
            model = train_in_stages(play, out, config, stages, open_data_world(play, env), held_out, resume, progress)
    else:
        model = train_best(worlds, out, config, held_out, resume, begin)
    rehearse(model, out, worlds, held_out, config.judging)
    print(f"{out}: {model.parameter_count:,} parameters, threshold {model.threshold}")
    for line in summarise_training(read_description(out)):
        print(line)


def _chosen(preset: str, family: str | None, noisy: bool, inverse: bool) -> TrainConfig:
    """The settings that these options ask for."""
    from dataclasses import replace

    from pixelplan.families.presets import preset as find
    from pixelplan.families.presets import without_inverse
    from pixelplan.model.find_family import FAMILIES
    from pixelplan.types import InputError

    config = find("noisy" if noisy else preset)
    if family is not None and family not in FAMILIES:
        raise InputError(f"there is no family {family!r}; the families are {', '.join(FAMILIES)}")
    if family is not None:
        config = replace(config, model=FAMILIES[family].config(family=family), candidates=None)
    return config if inverse else replace(config, model=without_inverse(config.model), candidates=None)
