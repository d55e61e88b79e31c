"""The RSS feed of each language, made from docs/changes.yml."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from operator import itemgetter

from feedgenerator import Rss201rev2Feed

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, load_entries
from bookbuild.pages.page import SourcePage, page_url, target_errors
from bookbuild.pages.paths import LANGUAGES

LANGUAGE_CODES = {"en": "en", "zh": "zh-CN"}


def load_changes() -> list[Entry]:
    """All entries, newest first."""
    changes = load_entries(paths.DOCS / "changes.yml", ("date", "page", *LANGUAGES))
    return sorted(changes, key=itemgetter("date"), reverse=True)


def feed_errors() -> Iterator[SourceError]:
    """Entries that are invalid, or without an existing target."""
    path = paths.DOCS / "changes.yml"
    try:
        changes = load_changes()
    except SourceError as error:
        yield error
        return
    seen: set[tuple[str, str]] = set()
    for change in changes:
        day, target = change["date"], change["page"]
        try:
            date.fromisoformat(day)
        except ValueError:
            yield SourceError(path, day.line, f"invalid date {day}; write it as 2026-11-21")
        if (day, target) in seen:
            message = f"second entry for {target} on {day}; join the two"
            yield SourceError(path, change.line, message)
        seen.add((day, target))
    yield from target_errors(path, [(change["page"].line, change["page"]) for change in changes])


def rss(language: str, root: str, title: str, description: str) -> str:
    """The feed of one language, whose pages are below the address root."""
    feed = Rss201rev2Feed(
        title, root, description, LANGUAGE_CODES[language], feed_url=f"{root}feed.xml"
    )
    for change in load_changes():
        name, hash_sign, anchor = change["page"].partition("#")
        link = f"{root}{page_url(name)}{hash_sign}{anchor}"
        feed.add_item(
            SourcePage(language, name).title,
            link,
            change[language],
            pubdate=datetime.combine(date.fromisoformat(change["date"]), time(), UTC),
            unique_id=f"{link} {change['date']}",
            unique_id_is_permalink=False,
        )
    return feed.writeString("utf-8")
