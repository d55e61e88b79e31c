"""Named sections of the snippets, between marker comments."""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import blank, line_number, read_text

MARKER = r" *(?:#|//) --8<-- \["  # indented in a class
SECTION_MARKER = re.compile(rf"^{MARKER}(start|end):(\w+)\]\n", re.M)
SECTION = re.compile(rf"^{MARKER}start:(\w+)\]\n((?:(?!{MARKER}).*\n)*){MARKER}end:\1\]\n", re.M)
UNMATCHED_MARKER = {
    "start": "section {0} has no end marker; add --8<-- [end:{0}] below it",
    "end": "unmatched end marker of section {0}; add its start marker or remove it",
}


def without_section_markers(path: Path) -> str:
    """The text of the file as readers download it."""
    return SECTION_MARKER.sub("", read_text(path)).rstrip("\n") + "\n"


def downloaded_line(text: str) -> Callable[[int], int]:
    """A function that maps a line of a file to the line in the file as readers download it."""
    markers = [line_number(text, match.start()) for match in SECTION_MARKER.finditer(text)]
    return lambda line: line - sum(marker < line for marker in markers)


def read_sections(path: Path) -> dict[str, str]:
    """The file's sections by name, in order. Raises SourceError for an unmatched marker."""
    return parse_sections(path, read_text(path))


@functools.lru_cache(maxsize=1024)
def parse_sections(path: Path, text: str) -> dict[str, str]:
    sections: dict[str, str] = {}
    for match in SECTION.finditer(text):
        name = match[1]
        if name in sections:
            message = f"duplicate section {name}; rename one of them"
            raise SourceError(path, line_number(text, match.start()), message)
        sections[name] = match[2]
    unmatched = SECTION_MARKER.search(SECTION.sub(blank, text))
    if unmatched:
        message = UNMATCHED_MARKER[unmatched[1]].format(unmatched[2])
        raise SourceError(path, line_number(text, unmatched.start()), message)
    return sections


def section_errors() -> Iterator[SourceError]:
    """The first unmatched marker of each snippet file."""
    for path in sorted([*paths.SNIPPETS.rglob("*.py"), *paths.SNIPPETS.glob("*.js")]):
        try:
            read_sections(path)
        except SourceError as error:
            yield error
