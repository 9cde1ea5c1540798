"""Generated requests after our own OpenAPI: never a 5xx, and every answer as documented.

The long run of this is benchmarks/web_fuzz.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    schemathesis = pytest.importorskip("schemathesis", reason="the generated requests need schemathesis")

from fastapi.testclient import TestClient
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from pixelplan.web.server import make_app
from pixelplan.web.thinkers import Models
from tests.web.client import running
from tests.web.corridor import corridor_models

document = TestClient(make_app(Models("oracle")), base_url="http://localhost").get("/openapi.json").json()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A real server, with an own environment beside the puzzles."""
    with corridor_models() as models, running(models) as address:
        yield address


@schemathesis.openapi.from_dict(document).parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_documented(case: Any, address: str) -> None:
    # A frame that shows nothing or a cell of rock is well-formed and still refused: no schema can say that.
    response = case.call(base_url=address, timeout=60)
    if response.status_code != 413:  # a giant body is rightly refused, which schemathesis takes for accepted
        case.validate_response(response, excluded_checks=[positive_data_acceptance])
