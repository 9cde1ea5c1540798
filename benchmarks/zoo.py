"""Other people's environments, with default settings: check, record, train and judge, on one core.

    python benchmarks/zoo.py               # all ids that have no record yet, one after the other
    python benchmarks/zoo.py four-rooms    # only these
    python benchmarks/zoo.py --shortest    # how many steps the judge's levels need at least, if that can be known
    python benchmarks/zoo.py --page        # docs/zoo.md and its picture, from the records there are

Each id runs in a process of its own, and its record in results/zoo is written when it is done. What was recorded or
trained before an interruption is in runs/zoo, and the next run continues it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pixelplan.envs.family import Family

ROOT = Path(__file__).parents[1]
RESULTS, RUNS = ROOT / "results" / "zoo", ROOT / "runs" / "zoo"
SHORTEST = RESULTS / "shortest.json"
LEVELS, JUDGED, SHOWN = "0:200", "2000:2020", 2000
EXPLORED = (10, 40, 160)
"""Numbers of episodes (of 100 steps) to explore a level with, in this order, until its shortest solution is known."""


@dataclass(frozen=True)
class Animal:
    """One id of the zoo."""

    env: str
    """As for --env."""
    options: dict[str, Any] = field(default_factory=dict)
    levels: str = LEVELS
    """The levels to record: fewer if drawing is slow (check-env says how slow)."""
    refused: str | None = None
    """For a negative control, the finding of check-env that must refuse it."""


SMALL_TILES = {"tile_size": 8}


def _grid(id: str) -> Animal:
    return Animal(f"minigrid:{id}", SMALL_TILES)


ZOO: dict[str, Animal] = {
    "empty-random": _grid("MiniGrid-Empty-Random-6x6-v0"),
    "four-rooms": _grid("MiniGrid-FourRooms-v0"),
    "simple-crossing": _grid("MiniGrid-SimpleCrossingS9N1-v0"),
    "lava-gap": _grid("MiniGrid-LavaGapS6-v0"),
    "larger-lava-gap": _grid("MiniGrid-LavaGapS7-v0"),
    "lava-crossing": _grid("MiniGrid-LavaCrossingS9N1-v0"),
    "two-lava-crossings": Animal("minigrid:MiniGrid-LavaCrossingS9N2-v0"),
    "small-door-key": Animal("minigrid:MiniGrid-DoorKey-5x5-v0"),
    "three-crossings": _grid("MiniGrid-SimpleCrossingS9N3-v0"),
    "memory": _grid("MiniGrid-MemoryS7-v0"),
    "multi-room": _grid("MiniGrid-MultiRoom-N2-S4-v0"),
    "door-key": _grid("MiniGrid-DoorKey-6x6-v0"),
    "unlock": _grid("MiniGrid-Unlock-v0"),
    "unlock-pickup": _grid("MiniGrid-UnlockPickup-v0"),
    "key-corridor": _grid("MiniGrid-KeyCorridorS3R1-v0"),
    "red-blue-doors": _grid("MiniGrid-RedBlueDoors-6x6-v0"),
    "obstructed-maze": _grid("MiniGrid-ObstructedMaze-1Dl-v0"),
    "go-to-red-ball": _grid("BabyAI-GoToRedBallNoDists-v0"),
    "go-to-object": _grid("BabyAI-GoToObj-v0"),
    "go-to-red-ball-grey": _grid("BabyAI-GoToRedBallGrey-v0"),
    "one-room": _grid("BabyAI-OneRoomS8-v0"),
    "open-red-door": _grid("BabyAI-OpenRedDoor-v0"),
    "pickup-local": _grid("BabyAI-PickupDist-v0"),
    "put-near": _grid("MiniGrid-PutNear-6x6-N2-v0"),
    "taxi": Animal("Taxi-v4", levels="0:60"),
    "cliff-walking": Animal("examples.zoo:cliff_walking"),
    "bare-cliff": Animal("CliffWalking-v1"),
    "frozen-lake": Animal("examples.zoo:frozen_lake"),
    "photo-tiles": Animal("examples.zoo:photo_tiles"),
    "gym-sokoban": Animal("examples.zoo:sokoban"),
    "jumanji-maze": Animal("examples.zoo:jumanji_maze"),
    "jumanji-tiles": Animal("examples.zoo:jumanji_tiles"),
    "magic-cube": Animal("examples.zoo:magic_cube"),
    "slippery-lake": Animal("FrozenLake-v1", {"is_slippery": True}, refused="determinism"),
    "dynamic-obstacles": Animal("minigrid:MiniGrid-Dynamic-Obstacles-6x6-v0", SMALL_TILES, refused="determinism"),
    "sticky-freeway": Animal("ale_py:ALE/Freeway-v5", refused="chance"),
    "procgen-coinrun": Animal("examples.zoo:procgen", {"game": "coinrun"}, refused="whole state"),
    "procgen-leaper": Animal("examples.zoo:procgen", {"game": "leaper"}, refused="whole state"),
    "step-counter": Animal("examples.zoo:counted", refused="clock"),
}


def measure(name: str) -> dict[str, Any]:
    """All that a record says about one id."""
    import pixelplan
    from pixelplan.by_name.resolve import open_family
    from pixelplan.data.collect import reach
    from pixelplan.machine import describe_machine
    from pixelplan.model.checkpoint import read_description
    from pixelplan.types import InputError
    from pixelplan.worlds.check_env import check_env

    animal = ZOO[name]
    record: dict[str, Any] = {"name": name, "env": animal.env, "options": animal.options, **describe_machine()}
    record["command"] = f"python benchmarks/zoo.py {name}"
    try:
        family = open_family(animal.env, animal.options)
        check = check_env(family, list(range(5)))
    except InputError as problem:
        return {**record, "fits": False, "sentence": str(problem)}
    unfit = [finding for finding in check.findings if finding.mark == "does not fit"]
    record |= {"fits": check.fits, "refused_for": [finding.what for finding in unfit], "hidden": check.hidden}
    record["doubts"] = {finding.what: finding.found for finding in check.findings if finding.mark == "mind"}
    if unfit or animal.refused:
        return {**record, "sentence": unfit[0].found if unfit else "it was not refused"}
    began, folder, model = core_seconds(), RUNS / name / "data", RUNS / name / "model"
    interrupted = folder.exists()
    ways = {way: reach(family, list(range(8)), 20, 20, 0, way == "explore") for way in ("random", "explore")}
    record["reach"] = {
        way: {"goals": seen.goals, "of": seen.levels, "frames": seen.frames} for way, seen in ways.items()
    }
    levels, episodes = ("0:1", 200) if check.one_level else (animal.levels, 20)
    data = pixelplan.collect(family, levels, folder, episodes=episodes, resume=True)
    pixelplan.train(data, model, resume=True, threads=1, quiet=True)
    trained = read_description(model)
    record |= {
        "levels": levels,
        "explored": bool(data.manifest.get("explore")),
        "steps": data.manifest["steps"],
        "goals_recorded": len(set(data.frame_level[data.solved == 1].tolist())),
        "core_seconds": round(core_seconds() - began),
        "interrupted": interrupted,
        "training_seconds": trained["seconds"],
        "family": trained["findings"]["family"],
        "exact": trained["validation_metrics"]["exact"],
        "rollouts": trained["validation_metrics"]["rollouts"],
        "goal_test": trained["findings"]["goal_test"],
        "rehearsal": trained["findings"].get("rehearsal"),
        "warnings": [*trained["findings"]["warnings"], *trained["findings"]["goal_test_warnings"]],
    }
    for planner, goals in (
        ("one-shot", "solved"),
        ("full", "solved"),
        ("image-search", "solved"),
        ("one-shot", "random"),
    ):
        try:
            result = pixelplan.evaluate(family, JUDGED, planner=planner, model=model, goals=goals)
        except InputError as problem:
            record[f"{planner} {goals}"] = {"refused": str(problem)}
            continue
        steps = [episode.steps for episode in result.episodes if episode.solved]
        mean = sum(steps) / len(steps) if steps else None
        record[f"{planner} {goals}"] = {
            "success": result.success, "interval": result.interval, "optimal": result.optimal, "steps": mean,
            "levels": result.levels, "seed": result.seed,
        }  # fmt: skip
        print(f"  {planner}, {goals} goals: {result.success:.2f}", flush=True)
    if record["goal_test"] is not None:
        _, episode = pixelplan.solve(family, SHOWN, model=model)
        record["plan"] = {"level": SHOWN, "actions": list(map(int, episode.actions)), "solved": episode.solved}
    return record


def fewest_steps(family: Family, number: int) -> int | None:
    """The length of a level's shortest solution; None if exploring does not find out.

    A level is explored until every action was tried in all frames through which a shorter one might lead.
    """
    import numpy as np

    from pixelplan.worlds.measured_play import look

    for episodes in EXPLORED:
        play = look(family, number, episodes, 100, 0, True)
        away = play.goal_distance()
        tried = np.bincount(np.unique(play.steps()[:, :2], axis=0)[:, 0], minlength=len(play.frames))
        unsure = (depth for frame, depth in play.depths().items() if tried[frame] < len(family.action_names))
        if away is not None and min(unsure, default=away) >= away - 1:
            return away
    return None


def mean_fewest_steps(family: Family) -> float | None:
    """The mean over the test levels; None if it is unknown for any of them."""
    numbers, steps = range(*map(int, JUDGED.split(":"))), 0
    for number in numbers:
        fewest = fewest_steps(family, number)
        if fewest is None:
            return None
        steps += fewest
    return steps / len(numbers)


def known_shortest() -> dict[str, float | None]:
    """The mean fewest steps of each id for which they were looked for; None if they were not found out."""
    return json.loads(SHORTEST.read_text())["steps"] if SHORTEST.exists() else {}


def find_shortest(names: list[str]) -> None:
    """Add to the record of shortest solutions those of these ids that have a record and are not in it yet."""
    from pixelplan.by_name.resolve import open_family
    from pixelplan.files import write_json
    from pixelplan.machine import describe_machine

    known = known_shortest()
    for name in names:
        animal = ZOO[name]
        if (RESULTS / f"{name}.json").exists() and name not in known and animal.refused is None:
            known[name] = mean_fewest_steps(open_family(animal.env, animal.options))
            print(f"{name}: {known[name]}", flush=True)
            write_json(
                SHORTEST, {"command": "python benchmarks/zoo.py --shortest", "steps": known, **describe_machine()}
            )


def core_seconds() -> float:
    """Processor seconds of this process and of those that it started."""
    return sum(os.times()[:4])


def run(names: list[str]) -> None:
    """Measure each id in a process of its own."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in names:
        print(f"{name} …", flush=True)
        done = subprocess.run([sys.executable, __file__, "--one", name], cwd=ROOT)
        if done.returncode:
            print(f"{name} failed with code {done.returncode}; the next run tries it again", flush=True)


def main() -> None:
    """Parse the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", choices=[*ZOO, []], help="ids by their short names; by default all")
    parser.add_argument("--one", choices=list(ZOO), help="measure this one in this process")
    parser.add_argument("--shortest", action="store_true", help="find the shortest solutions of the test levels")
    parser.add_argument("--page", action="store_true", help="write docs/zoo.md from the records")
    arguments = parser.parse_args()
    if arguments.one:
        from pixelplan.files import write_json

        sys.path.insert(0, str(ROOT))
        write_json(RESULTS / f"{arguments.one}.json", measure(arguments.one))
    elif arguments.shortest:
        sys.path.insert(0, str(ROOT))
        find_shortest(arguments.names or list(ZOO))
    elif arguments.page:
        from zoo_page import write_page

        sys.path.insert(0, str(ROOT))
        records = [json.loads(path.read_text()) for name in ZOO if (path := RESULTS / f"{name}.json").exists()]
        write_page(records, known_shortest())
    else:
        run(arguments.names or [name for name in ZOO if not (RESULTS / f"{name}.json").exists()])


if __name__ == "__main__":
    main()
