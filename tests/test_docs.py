"""What the documentation says is what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import make_pages

ROOT = Path(__file__).parent.parent


def test_puzzle_pages_are_their_docstrings(name: str) -> None:
    page = (ROOT / "docs" / "puzzles" / f"{name}.md").read_text()
    assert page == make_pages.page(name), "run python docs/make_pages.py"
    assert (ROOT / "docs" / "puzzles" / f"{name}.png").exists()


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("results/*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
