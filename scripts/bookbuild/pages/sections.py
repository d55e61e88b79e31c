"""Named sections of the snippets, between marker comments."""

import re
from collections.abc import Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number

SECTION_MARKER = re.compile(r"^(?:#|//) --8<-- \[(start|end):(\w+)\]\n", re.M)


def without_section_markers(path: Path) -> str:
    """The text of the file as readers download it."""
    return SECTION_MARKER.sub("", path.read_text(encoding="utf-8")).rstrip("\n") + "\n"


def unclosed_section(name: str) -> str:
    """The message for a section without an end marker."""
    return f"section {name} has no end marker; add --8<-- [end:{name}] below it"


def read_sections(path: Path) -> dict[str, str]:
    """The file's sections by name, in order. Raises SourceError for an unmatched marker."""
    text = path.read_text(encoding="utf-8")
    sections: dict[str, str] = {}
    open_section: tuple[str, re.Match[str]] | None = None
    for marker in SECTION_MARKER.finditer(text):
        kind, name = marker.groups()
        line = line_number(text, marker.start())
        if kind == "start":
            if open_section:
                start_line = line_number(text, open_section[1].start())
                raise SourceError(path, start_line, unclosed_section(open_section[0]))
            if name in sections:
                raise SourceError(path, line, f"duplicate section {name}; rename one of them")
            open_section = (name, marker)
        elif open_section is None or open_section[0] != name:
            message = f"unmatched end marker of section {name}; add its start marker or remove it"
            raise SourceError(path, line, message)
        else:
            sections[name] = text[open_section[1].end() : marker.start()]
            open_section = None
    if open_section:
        start_line = line_number(text, open_section[1].start())
        raise SourceError(path, start_line, unclosed_section(open_section[0]))
    return sections


def section_errors() -> Iterator[SourceError]:
    """The first unmatched marker of each snippet file."""
    for path in sorted([*paths.SNIPPETS.rglob("*.py"), *paths.SNIPPETS.glob("*.js")]):
        try:
            read_sections(path)
        except SourceError as error:
            yield error
