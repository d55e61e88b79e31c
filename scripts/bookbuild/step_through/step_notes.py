"""The texts of the page Step through: docs/step-through/stops.yml and tour.yml, as JSON."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, load_entries
from bookbuild.pages.page import SourcePage, headings, target_errors

STOPS_FILE = "step-through/stops.yml"
TOUR_FILE = "step-through/tour.yml"


def load_stops() -> list[Entry]:
    """What the stops of each function do."""
    return load_entries(paths.DOCS / STOPS_FILE, ("at", "section", "en", "zh"))


def load_tour() -> list[Entry]:
    """The stops of the guided tour."""
    keys = ("at", "en_title", "en", "zh_title", "zh")
    return load_entries(paths.DOCS / TOUR_FILE, keys)


def notes_path(language: str) -> Path:
    """Where the build writes the notes of a language."""
    return paths.DOWNLOADS / f"step-through-{language}.json"


def step_notes(language: str) -> str:
    """The texts of a language as the page fetches them; empty in a book without the page."""
    if not (paths.DOCS / STOPS_FILE).exists():
        return ""
    functions = {}
    for stop in load_stops():
        name, _, anchor = stop["section"].partition("#")
        page = SourcePage(language, name)
        if not page.path.exists():
            page = page.translation
        titles = {each.anchor: each.title for each in headings(page.text)}
        functions[stop["at"]] = {
            "text": stop[language],
            "url": f"../{name.removesuffix('.md')}/#{anchor}",
            "title": re.sub(r"[`*]", "", titles.get(anchor, page.title)),
        }
    tour = [
        {"at": stop["at"], "title": stop[f"{language}_title"], "text": stop[language]}
        for stop in load_tour()
    ]
    notes = {"functions": functions, "tour": tour}
    return json.dumps(notes, ensure_ascii=False, separators=(",", ":"))


def note_errors() -> Iterator[SourceError]:
    """Errors for sections that no page has."""
    path = paths.DOCS / STOPS_FILE
    if path.exists():
        targets = [(stop["section"].line, stop["section"]) for stop in load_stops()]
        yield from target_errors(path, targets)
