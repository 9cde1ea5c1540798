"""Fifty visitors who play and plan at once for a minute, against a server on this machine.

    python benchmarks/web_load.py [--clients 50] [--seconds 60] [--model DIR] [--json results/benchmark-web-load.json]

Each opens the page, begins games, moves, plans, draws a level, brings a picture, asks what the model reads, lets the
full planner run, races and scores, with short pauses. It prints the times of the answers, errors, and the server's
memory. Needs the extras web and browser.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx2
import websockets
from web_server import Server, server

from pixelplan.files import write_json
from pixelplan.machine import describe_machine

PUZZLES = ("ice-slider", "digit-jump", "procgen-maze")


class Visitors:
    """What all visitors found."""

    def __init__(self, address: str, until: float, pause: float) -> None:
        self.address, self.until, self.pause = address, until, pause
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    async def ask(self, client: httpx2.AsyncClient, what: str, method: str, path: str, body: object = None) -> dict:
        """One request, timed."""
        began = time.perf_counter()
        answer = await client.request(method, self.address + path, json=body)
        self.times[what].append(time.perf_counter() - began)
        if answer.status_code >= 400:
            self.errors.append(f"{what}: {answer.status_code} {answer.text[:120]}")
        return answer.json() if answer.content and "json" in answer.headers.get("content-type", "") else {}

    async def watch(self, what: str, path: str) -> None:
        """One run or race, to its end."""
        began = time.perf_counter()
        async with websockets.connect(self.address.replace("http", "ws") + path, max_size=2**24) as socket:
            async for message in socket:
                if json.loads(message)["type"] == "problem":
                    self.errors.append(f"{what}: {message[:120]!r}")
        self.times[what].append(time.perf_counter() - began)

    async def visit(self, number: int) -> None:
        """One visitor, level after level."""
        dice = random.Random(number)
        async with httpx2.AsyncClient(timeout=60) as client:
            await self.ask(client, "page", "GET", "/")
            while time.monotonic() < self.until:
                env = dice.choice(PUZZLES)
                level = dice.randrange(3000, 3200)
                game = await self.ask(client, "begin", "POST", "/api/games", {"env": env, "level": level})
                if "id" not in game:
                    return
                path = f"/api/games/{game['id']}"
                for _ in range(5):
                    game = await self.ask(client, "move", "POST", f"{path}/moves", {"actions": [dice.randrange(4)]})
                    await self.ask(client, "frame", "GET", f"/api/frames/{env}/{level}/{game['state']}.png")
                    await asyncio.sleep(self.pause * dice.random())
                await self.ask(client, f"plan {env}", "POST", f"{path}/plan")
                await asyncio.sleep(self.pause)
                await self.draw(client, dice, env, level)
                if dice.random() < 0.3:
                    await self.ask(client, "reading", "GET", f"{path}/reading")
                if dice.random() < 0.1:
                    await self.watch("score of 5", f"{path}/score?planner=one-shot&levels=5")
                if game["dead_end"]:  # the page says so, and people go back
                    await self.ask(client, "restart", "POST", f"{path}/restart")
                await self.watch("run", f"{path}/run?planner=full")
                if dice.random() < 0.2:
                    await self.watch("race", f"{path}/race")
                if dice.random() < 0.5:  # the others just go away
                    await self.ask(client, "leave", "DELETE", path)

    async def draw(self, client: httpx2.AsyncClient, dice: random.Random, env: str, level: int) -> None:
        """Change a level, plan in it, and bring it back as a picture."""
        view = await self.ask(client, "level", "GET", f"/api/levels/{env}/{level}")
        start, goal, cells, *floor = view["drawing"].split("-")
        spare = dice.choice([at for at in range(len(cells)) if at not in (int(start), int(goal))])
        kind = dice.choice("123456" if env == "digit-jump" else "01")
        name = "-".join([start, goal, cells[:spare] + kind + cells[spare + 1 :], *floor])
        game = await self.ask(client, "begin drawn", "POST", "/api/games", {"env": env, "level": name})
        await self.ask(client, "plan drawn", "POST", f"/api/games/{game['id']}/plan")
        frame = await client.get(f"{self.address}/api/frames/{env}/{name}/{game['state']}.png")
        await self.ask(client, "leave", "DELETE", f"/api/games/{game['id']}")
        if env != "procgen-maze":
            picture = {"env": env, "frame": base64.b64encode(frame.content).decode()}
            read = await self.ask(client, "picture", "POST", "/api/pictures", picture)
            game = await self.ask(client, "begin picture", "POST", "/api/games", {"env": env, "level": read["level"]})
            await self.ask(client, "plan picture", "POST", f"/api/games/{game['id']}/plan")

    async def visit_safely(self, number: int) -> None:
        """As above; whatever goes wrong is an error to report."""
        try:
            await self.visit(number)
        except Exception as problem:
            self.errors.append(f"{type(problem).__name__}: {problem}")


async def load(running: Server, clients: int, seconds: float, pause: float) -> tuple[Visitors, list[float]]:
    """What the visitors found, and the server's memory every few seconds."""
    visitors = Visitors(running.address, time.monotonic() + seconds, pause)
    memory = [running.memory()]

    async def weigh() -> None:
        while True:
            await asyncio.sleep(seconds / 12)
            memory.append(running.memory())

    scale = asyncio.ensure_future(weigh())
    await asyncio.gather(*(visitors.visit_safely(number) for number in range(clients)))
    scale.cancel()
    return visitors, memory


def spread(times: list[float]) -> dict[str, float]:
    """How many times there are, and their median, 95 % quantile and maximum in milliseconds."""
    ordered = sorted(1e3 * seconds for seconds in times)
    return {
        "count": len(ordered),
        "median": round(statistics.median(ordered), 1),
        "most": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
        "worst": round(ordered[-1], 1),
    }


def alone(running: Server) -> dict[str, Any]:
    """How many milliseconds a visitor waits if there are no others."""
    with httpx2.Client(timeout=60) as client:
        began = time.perf_counter()
        client.get(running.address)
        times_alone: dict[str, Any] = {"first_page": round(1e3 * (time.perf_counter() - began), 1)}
        for env in PUZZLES:
            times = []
            for level in range(3300, 3321):
                game = client.post(f"{running.address}/api/games", json={"env": env, "level": level}).json()
                began = time.perf_counter()
                client.post(f"{running.address}/api/games/{game['id']}/plan")
                times.append(time.perf_counter() - began)
            times_alone[f"first plan {env}"] = round(1e3 * times[0], 1)
            times_alone[f"plan {env}"] = spread(times[1:])
    return times_alone


def main() -> int:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=0.5, help="a visitor's pause between actions, in seconds")
    parser.add_argument("--model", default="", help="as for pixelplan web")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with server(options.model) as running:
        waited = alone(running)
        visitors, memory = asyncio.run(load(running, options.clients, options.seconds, options.pause))
    times = {name: spread(visitors.times[name]) for name in sorted(visitors.times)}
    print(f"one visitor; first page {waited['first_page']:.0f} ms")
    for env in PUZZLES:
        plan = waited[f"plan {env}"]
        print(f"plan alone, {env}: first {waited[f'first plan {env}']:.0f} ms, then median {plan['median']:.1f} ms, "
              f"worst {plan['worst']:.0f} ms")  # fmt: skip
    print(f"\n{options.clients} visitors, {options.seconds:.0f} s; milliseconds:")
    print(f"{'':18} {'count':>7} {'median':>9} {'95 %':>9} {'worst':>9}")
    for name, each in times.items():
        print(f"{name:18} {each['count']:7,} {each['median']:9.1f} {each['most']:9.1f} {each['worst']:9.1f}")
    print("memory in MB:", " ".join(f"{megabytes:.0f}" for megabytes in memory))
    print(f"errors: {len(visitors.errors)}", *visitors.errors[:5], sep="\n")
    if options.json:
        record = {
            "command": "python benchmarks/web_load.py",
            **describe_machine(),
            "clients": options.clients,
            "seconds": options.seconds,
            "milliseconds_alone": waited,
            "milliseconds": times,
            "memory_mb": [round(megabytes, 1) for megabytes in memory],
            "errors": len(visitors.errors),
        }
        write_json(options.json, record)
    return int(bool(visitors.errors))


if __name__ == "__main__":
    sys.exit(main())
