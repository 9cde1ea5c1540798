"""Thousands of generated requests to the page's server: never a 5xx, nothing read outside the package.

    python benchmarks/web_fuzz.py [--requests 10000] [--json results/benchmark-web-fuzz.json]

Requests are made by schemathesis from our own OpenAPI, valid and invalid ones; most of those about games use a game
that is being played. Needs the extras web and browser.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from web_server import outside, server

from pixelplan.files import write_json
from pixelplan.machine import describe_machine


def fuzz(address: str, wanted: int) -> tuple[Counter[int], list[str]]:
    """How often each status was answered, and what was not as documented."""
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json", timeout=120)
    operations = [result.ok() for result in schema.get_all_operations()]
    statuses: Counter[int] = Counter()
    failures: list[str] = []
    session = requests.Session()

    def living_game() -> str:
        wish = {"env": "ice-slider", "level": 3000 + sum(statuses.values()) % 50}
        return str(session.post(f"{address}/api/games", json=wish).json()["id"])

    def run(operation: Any, examples: int, number: int) -> None:
        strategies = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]
        game = living_game()

        @seed(number)
        @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(st.one_of(strategies), st.integers(0, 3))
        def once(case: Any, chance: int) -> None:
            nonlocal game
            excluded = [positive_data_acceptance]
            if chance and "id" in (case.path_parameters or {}) and case.method != "DELETE":
                case.path_parameters["id"] = game
                excluded.append(negative_data_rejection)  # the id may have been what was wrong
            response = case.call(base_url=address, session=session, timeout=120)
            statuses[response.status_code] += 1
            if response.status_code == 422 and "moves" in response.text:
                game = living_game()
            if response.status_code == 413:  # a giant body, rightly refused; schemathesis takes it for accepted
                return
            try:
                case.validate_response(response, excluded_checks=excluded)
            except BaseExceptionGroup as problem:
                failures.append(f"{case.method} {case.path}: {str(problem)[:500]}")

        once()

    rounds = 0
    while sum(statuses.values()) < wanted:
        rounds += 1
        for operation in operations:
            run(operation, max(20, wanted // len(operations) // 4), rounds)
    return statuses, failures


def main() -> int:
    """Send the requests, print what went wrong and optionally record it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    began = time.perf_counter()
    with server("oracle") as running:
        statuses, failures = fuzz(running.address, options.requests)
        alive = requests.get(running.address).status_code
        memory = running.memory()
    elsewhere, count = outside(running.opened), sum(statuses.values())
    seconds = time.perf_counter() - began
    print(f"{count:,} requests in {seconds:.0f} s, {memory:.0f} MB at the end")
    print("answers:", ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items())))
    print(f"not as documented: {len(failures)}; files opened outside the package and Python: {len(elsewhere)}")
    print("\n".join([*failures[:5], *elsewhere[:20]]))
    if options.json:
        record = {
            "command": "python benchmarks/web_fuzz.py",
            **describe_machine(),
            "requests": count,
            "seconds": round(seconds, 1),
            "answers": {str(status): statuses[status] for status in sorted(statuses)},
            "not_as_documented": len(failures),
            "files_opened_elsewhere": len(elsewhere),
            "memory_mb": round(memory, 1),
        }
        write_json(options.json, record)
    return int(bool(failures or elsewhere or alive != 200 or any(status >= 500 for status in statuses)))


if __name__ == "__main__":
    sys.exit(main())
