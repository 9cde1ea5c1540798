"""What the site needs beyond its pages: the commands' help texts, and links to files that are not part of the site."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
"""Files outside docs/ that are pages of the site as well."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page before it is rendered."""
    if page.file.src_uri == "reference/commands.md":
        markdown += command_pages()
    return resolve_links(markdown, Path(page.file.src_uri))


def resolve_links(markdown: str, page: Path) -> str:
    """Links that lead out of docs/ to a file of the repository become the file's name; what leads nowhere stays.

    A link that stays is judged by mkdocs, which fails on it.
    """

    def replaced(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        if re.match(r"\w+:", target):
            return link[0]
        path = Path(os.path.normpath(DOCS / page.parent / target))
        if path.is_relative_to(DOCS) or not path.is_relative_to(ROOT) or not path.exists():
            return link[0]
        name = str(path.relative_to(ROOT))
        if name in PAGES:
            return f"[{text}]({os.path.relpath(PAGES[name], page.parent)}{anchor if name != 'README.md' else ''})"
        return text if text.strip("`") in name else f"{text} (`{name}`)"

    return LINK.sub(replaced, markdown)


def command_pages() -> str:
    """Every command with what `--help` prints."""
    from pixelplan.cli.app import COMMANDS, GROUPS

    names = [command.__name__.replace("_", "-") for command in COMMANDS]
    names.append("import")
    for group, (members, _) in GROUPS.items():
        names += [f"{group} {member.__name__.replace('_', '-')}" for member in members]
    return "".join(f"\n## {name}\n\n```text\n{help_text(name)}\n```\n" for name in names)


def help_text(command: str) -> str:
    """What `pixelplan COMMAND --help` prints, without colours."""
    from pixelplan.cli.app import run

    shown = io.StringIO()
    with _environment(COLUMNS="100", NO_COLOR="1"), contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        run([*command.split(), "--help"])
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()).rstrip()


@contextlib.contextmanager
def _environment(**values: str) -> Any:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
