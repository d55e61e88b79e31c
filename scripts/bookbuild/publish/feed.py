"""The feed of changes: docs/changes.yml, both languages, as RSS 2.0 for each."""

import xml.etree.ElementTree as etree
from collections.abc import Iterator
from datetime import UTC, date, datetime
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import LINE_KEY, LineNumberLoader, yaml_error
from bookbuild.pages.page import SourcePage, page_url
from bookbuild.pages.paths import LANGUAGES

ATOM = "http://www.w3.org/2005/Atom"
KEYS = ("date", "page", *LANGUAGES)  # each entry has these and no others
CODES = {"en": "en", "zh": "zh-CN"}


class Change(NamedTuple):
    """An entry; where is page.md or page.md#anchor."""

    line: int
    day: date
    where: str
    texts: dict[str, str]


def path() -> Path:
    return paths.DOCS / "changes.yml"


def load_changes() -> list[Change]:
    """All entries. Raises Fault for the first that can't be read."""
    try:
        found = yaml.load(path().read_text(encoding="utf-8"), LineNumberLoader)
    except FileNotFoundError:
        raise SourceError(path(), 1, "isn't there; git restore it") from None
    except yaml.MarkedYAMLError as error:
        raise yaml_error(path(), error) from None
    if not isinstance(found, list) or not found:
        raise SourceError(path(), 1, "is no list of entries; each begins with - date: YYYY-MM-DD")
    return [change(entry) for entry in found]


def change(entry: object) -> Change:
    if not isinstance(entry, dict):
        raise SourceError(path(), 1, f"{entry!r} is no entry with {', '.join(KEYS)}")
    line = entry[LINE_KEY]
    for key in KEYS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise SourceError(path(), line, f"an entry has no {key}; each has {', '.join(KEYS)}")
    for key in sorted(entry.keys() - {*KEYS, LINE_KEY}):
        raise SourceError(
            path(), line, f"an entry has {key}, which means nothing here; take it out"
        )
    try:
        day = date.fromisoformat(entry["date"])
    except ValueError:
        what = f"{entry['date']} is no date; write it as 2026-11-21"
        raise SourceError(path(), line, what) from None
    return Change(line, day, entry["page"], {each: entry[each] for each in LANGUAGES})


def feed_errors() -> Iterator[SourceError]:
    """Entries that can't be read, stand in the wrong order, or lead nowhere."""
    try:
        found = load_changes()
    except SourceError as fault:
        yield fault
        return
    for newer, older in pairwise(found):
        if older.day > newer.day:
            what = f"{older.day} stands below {newer.day}; the newest entry comes first"
            yield SourceError(path(), older.line, what)
    seen: set[tuple[date, str]] = set()
    for line, day, where, _ in found:
        if (day, where) in seen:
            yield SourceError(path(), line, f"a second entry of {day} leads to {where}; join them")
        seen.add((day, where))
        name, mark, anchor = where.partition("#")
        for page in (SourcePage(language, name) for language in LANGUAGES):
            if not page.path.exists() and page.translation.path.exists():
                continue  # told by translation_errors
            if not page.path.exists():
                yield SourceError(
                    path(), line, f"leads to {page.display_path}, which isn't there; correct page"
                )
            elif mark and anchor not in page.anchors():
                what = f"leads to #{anchor}, which {page.display_path} doesn't have; correct page"
                yield SourceError(path(), line, what)


def rss(language: str, root: str, title: str, about: str) -> str:
    """The feed of one language, whose pages lie below the address root."""
    etree.register_namespace("atom", ATOM)
    feed = etree.Element("rss", version="2.0")
    channel = etree.SubElement(feed, "channel")
    found = load_changes()
    add(channel, "title", title)
    add(channel, "link", root)
    add(channel, "description", about)
    add(channel, "language", CODES[language])
    add(channel, "lastBuildDate", moment(found[0].day))
    self = {"href": f"{root}feed.xml", "rel": "self", "type": "application/rss+xml"}
    etree.SubElement(channel, f"{{{ATOM}}}link", self)
    for _, day, where, texts in found:
        name, mark, anchor = where.partition("#")
        link = f"{root}{page_url(name)}{mark}{anchor}"
        item = etree.SubElement(channel, "item")
        add(item, "title", SourcePage(language, name).title)
        add(item, "link", link)
        add(item, "description", texts[language])
        add(item, "pubDate", moment(day))
        add(item, "guid", f"{link} {day}").set("isPermaLink", "false")
    etree.indent(feed)
    body = etree.tostring(feed, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def add(parent: etree.Element, tag: str, text: str) -> etree.Element:
    element = etree.SubElement(parent, tag)
    element.text = text
    return element


def moment(day: date) -> str:
    """The day as RSS writes it, at its beginning, wherever it is built."""
    return format_datetime(datetime(day.year, day.month, day.day, tzinfo=UTC), usegmt=True)
