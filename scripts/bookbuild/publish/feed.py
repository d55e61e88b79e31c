"""The RSS feed of each language, made from docs/changes.yml."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml
from feedgenerator import Rss201rev2Feed

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import LINE_KEY, LineNumberLoader, yaml_error
from bookbuild.pages.page import SourcePage, page_url
from bookbuild.pages.paths import LANGUAGES

KEYS = ("date", "page", *LANGUAGES)  # of every entry
LANGUAGE_CODES = {"en": "en", "zh": "zh-CN"}


class Change(NamedTuple):
    """An entry of the list of changes."""

    line: int
    day: date
    target: str  # page.md or page.md#anchor
    texts: dict[str, str]


def changes_path() -> Path:
    return paths.DOCS / "changes.yml"


def load_changes() -> list[Change]:
    """All entries, newest first. Raises SourceError for the first invalid one."""
    path = changes_path()
    try:
        entries = yaml.load(path.read_text(encoding="utf-8"), LineNumberLoader)
    except FileNotFoundError:
        raise SourceError(path, 1, "missing file; git restore it") from None
    except yaml.MarkedYAMLError as error:
        raise yaml_error(path, error) from None
    if not isinstance(entries, list) or not entries:
        raise SourceError(path, 1, "not a list of entries; begin each with - date: YYYY-MM-DD")
    return [parse_change(entry) for entry in entries]


def parse_change(entry: object) -> Change:
    path = changes_path()
    if not isinstance(entry, dict):
        raise SourceError(path, 1, f"invalid entry {entry!r}; write one with {', '.join(KEYS)}")
    line = entry[LINE_KEY]
    for key in KEYS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise SourceError(path, line, f"entry without {key}; each needs {', '.join(KEYS)}")
    for key in sorted(entry.keys() - {*KEYS, LINE_KEY}):
        raise SourceError(path, line, f"unknown key {key}; remove it")
    try:
        day = date.fromisoformat(entry["date"])
    except ValueError:
        message = f"invalid date {entry['date']}; write it as 2026-11-21"
        raise SourceError(path, line, message) from None
    return Change(line, day, entry["page"], {each: entry[each] for each in LANGUAGES})


def feed_errors() -> Iterator[SourceError]:
    """Entries that are invalid, in the wrong order, or without an existing target."""
    path = changes_path()
    try:
        changes = load_changes()
    except SourceError as error:
        yield error
        return
    for newer, older in pairwise(changes):
        if older.day > newer.day:
            message = f"{older.day} is below {newer.day}; put the newest entry first"
            yield SourceError(path, older.line, message)
    seen: set[tuple[date, str]] = set()
    for line, day, target, _ in changes:
        if (day, target) in seen:
            yield SourceError(path, line, f"second entry for {target} on {day}; join the two")
        seen.add((day, target))
        name, hash_sign, anchor = target.partition("#")
        for page in (SourcePage(language, name) for language in LANGUAGES):
            if not page.path.exists() and page.translation.path.exists():
                continue  # translation_errors reports it
            if not page.path.exists():
                message = f"page {page.display_path} doesn't exist; correct the entry's page"
                yield SourceError(path, line, message)
            elif hash_sign and anchor not in page.anchors():
                message = f"{page.display_path} has no anchor #{anchor}; correct the entry's page"
                yield SourceError(path, line, message)


def rss(language: str, root: str, title: str, description: str) -> str:
    """The feed of one language, whose pages are below the address root."""
    feed = Rss201rev2Feed(
        title, root, description, LANGUAGE_CODES[language], feed_url=f"{root}feed.xml"
    )
    for _, day, target, texts in load_changes():
        name, hash_sign, anchor = target.partition("#")
        link = f"{root}{page_url(name)}{hash_sign}{anchor}"
        feed.add_item(
            SourcePage(language, name).title,
            link,
            texts[language],
            pubdate=datetime.combine(day, time(), UTC),
            unique_id=f"{link} {day}",
            unique_id_is_permalink=False,
        )
    return feed.writeString("utf-8")
