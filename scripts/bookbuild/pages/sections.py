"""Named sections of the snippets, between marker comments."""

import re
from collections.abc import Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number

SECTION_MARKER = re.compile(r"^(?:#|//) --8<-- \[(start|end):(\w+)\]\n", re.M)


def without_section_markers(path: Path) -> str:
    """The file as readers download it."""
    return SECTION_MARKER.sub("", path.read_text(encoding="utf-8")).rstrip("\n") + "\n"


def unclosed_section(name: str) -> str:
    return f"section {name} has no end mark; put --8<-- [end:{name}] below it"


def read_sections(path: Path) -> dict[str, str]:
    """A file's named sections, in order. Raises Fault for an unpaired mark."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    opened: tuple[str, re.Match[str]] | None = None
    for mark in SECTION_MARKER.finditer(text):
        kind, name = mark.groups()
        here = line_number(text, mark.start())
        if kind == "start":
            if opened:
                line = line_number(text, opened[1].start())
                raise SourceError(path, line, unclosed_section(opened[0]))
            if name in found:
                raise SourceError(
                    path, here, f"section {name} stands twice; give each a name of its own"
                )
            opened = (name, mark)
        elif opened is None or opened[0] != name:
            raise SourceError(
                path, here, f"end mark of {name} without its start; one of the two is too much"
            )
        else:
            found[name] = text[opened[1].end() : mark.start()]
            opened = None
    if opened:
        line = line_number(text, opened[1].start())
        raise SourceError(path, line, unclosed_section(opened[0]))
    return found


def section_errors() -> Iterator[SourceError]:
    for path in sorted([*paths.SNIPPETS.rglob("*.py"), *paths.SNIPPETS.glob("*.js")]):
        try:
            read_sections(path)
        except SourceError as fault:
            yield fault
