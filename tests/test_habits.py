"""What keeps the house in order: the same checks everywhere, targets that exist, no notes to self."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = r"\.venv/bin/|\$\(BIN\)/"
"""Where the hooks and make find ruff and mypy."""


def recipe(target: str) -> list[str]:
    """The commands of a target of the Makefile."""
    match = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert match is not None, f"make has no target {target}"
    return [line.strip() for line in match[1].splitlines()]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_hooks_run_what_make_check_runs() -> None:
    entries = re.findall(r"entry: ([^,}]+)", (ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [
        re.sub(TOOLS, "", entry).replace(" --force-exclude", "") for entry in entries
    ]  # pre-commit names the files
    assert hooks == [re.sub(TOOLS, "", line).removesuffix(" .") for line in recipe("check")]


def test_ci_runs_readmes_commands_the_check_the_docs_and_the_page() -> None:
    lines = re.findall(r"^make (\S+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert lines == ["demo", "test", "docs", "test-web"]
    assert re.search(r"^test:.* check\b", (ROOT / "Makefile").read_text(), re.MULTILINE), "make test checks first"
    assert any("mkdocs build --strict" in line for line in recipe("docs")), "strict: a broken link fails"


def test_make_help_lists_every_target() -> None:
    words = ["make", "--no-print-directory", "help"]  # another make, which runs this test, would have it printed
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [line.split(maxsplit=2) for line in listed.splitlines()]
    assert {line[1] for line in lines} == targets() and all(len(line) == 3 for line in lines)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/releasing.md", "docs/reliability.md"])
def test_pages_name_targets_that_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    named = set(re.findall(r"(?:`|^    )make ([a-z-]+)", text, re.MULTILINE))
    assert named and named <= targets()


def test_contributing_names_every_target_that_tests() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert all(f"    make {target}" in text for target in targets() if target.startswith("test"))


def test_the_software_and_the_paper_can_be_cited() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert "type: software" in citation and "type: conference-paper" in citation and "arXiv:2110.06149" in citation


def test_nothing_is_left_as_a_note_to_self() -> None:
    """What is still to do is an issue, not a comment."""
    words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X"))
    note = re.compile(rf"\b({words})\b")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in tracked.splitlines():
        path = ROOT / name
        if path.suffix in (".py", ".md", ".js", ".html", ".css", ".toml", ".yml", ".sh") and path.is_file():
            assert not note.search(path.read_text()), name
