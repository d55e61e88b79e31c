"""The feed of changes: docs/changes.yml, both languages, as RSS 2.0 for each."""

import xml.etree.ElementTree as etree
from collections.abc import Iterator
from datetime import UTC, date, datetime
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import yaml

import book
from quizzes import LINE, Lines
from twins import url_of

ATOM = "http://www.w3.org/2005/Atom"
KEYS = ("date", "page", *book.LANGUAGES)  # each entry has these and no others
CODES = {"en": "en", "zh": "zh-CN"}


class Change(NamedTuple):
    """An entry; where is page.md or page.md#anchor."""

    line: int
    day: date
    where: str
    texts: dict[str, str]


def path() -> Path:
    return book.DOCS / "changes.yml"


def changes() -> list[Change]:
    """All entries. Raises Fault for the first that can't be read."""
    try:
        found = yaml.load(path().read_text(encoding="utf-8"), Lines)
    except FileNotFoundError:
        raise book.Fault(path(), 1, "isn't there; git restore it") from None
    except yaml.MarkedYAMLError as error:
        raise book.yaml_fault(path(), error) from None
    if not isinstance(found, list) or not found:
        raise book.Fault(path(), 1, "is no list of entries; each begins with - date: YYYY-MM-DD")
    return [change(entry) for entry in found]


def change(entry: object) -> Change:
    if not isinstance(entry, dict):
        raise book.Fault(path(), 1, f"{entry!r} is no entry with {', '.join(KEYS)}")
    line = entry[LINE]
    for key in KEYS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise book.Fault(path(), line, f"an entry has no {key}; each has {', '.join(KEYS)}")
    for key in sorted(entry.keys() - {*KEYS, LINE}):
        raise book.Fault(path(), line, f"an entry has {key}, which means nothing here; take it out")
    try:
        day = date.fromisoformat(entry["date"])
    except ValueError:
        what = f"{entry['date']} is no date; write it as 2026-11-21"
        raise book.Fault(path(), line, what) from None
    return Change(line, day, entry["page"], {each: entry[each] for each in book.LANGUAGES})


def faults() -> Iterator[book.Fault]:
    """Entries that can't be read, stand in the wrong order, or lead nowhere."""
    try:
        found = changes()
    except book.Fault as fault:
        yield fault
        return
    for newer, older in pairwise(found):
        if older.day > newer.day:
            what = f"{older.day} stands below {newer.day}; the newest entry comes first"
            yield book.Fault(path(), older.line, what)
    seen: set[tuple[date, str]] = set()
    for line, day, where, _ in found:
        if (day, where) in seen:
            yield book.Fault(path(), line, f"a second entry of {day} leads to {where}; join them")
        seen.add((day, where))
        name, mark, anchor = where.partition("#")
        for page in (book.Page(language, name) for language in book.LANGUAGES):
            if not page.path.exists() and page.twin.path.exists():
                continue  # told by book.twin_faults
            if not page.path.exists():
                yield book.Fault(
                    path(), line, f"leads to {page.file}, which isn't there; correct page"
                )
            elif mark and anchor not in {heading.anchor for heading in book.headings(page)}:
                what = f"leads to #{anchor}, which {page.file} doesn't have; correct page"
                yield book.Fault(path(), line, what)


def rss(language: str, root: str, title: str, about: str) -> str:
    """The feed of one language, whose pages lie below the address root."""
    etree.register_namespace("atom", ATOM)
    feed = etree.Element("rss", version="2.0")
    channel = etree.SubElement(feed, "channel")
    found = changes()
    add(channel, "title", title)
    add(channel, "link", root)
    add(channel, "description", about)
    add(channel, "language", CODES[language])
    add(channel, "lastBuildDate", moment(found[0].day))
    self = {"href": f"{root}feed.xml", "rel": "self", "type": "application/rss+xml"}
    etree.SubElement(channel, f"{{{ATOM}}}link", self)
    for _, day, where, texts in found:
        name, mark, anchor = where.partition("#")
        link = f"{root}{url_of(name)}{mark}{anchor}"
        item = etree.SubElement(channel, "item")
        add(item, "title", book.Page(language, name).title)
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
