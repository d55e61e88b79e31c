"""The table of contents, from which chapter numbers and all lists of pages come.

It is the nav of mkdocs.yml: parts, and the names of their pages. Titles are those of the pages.
`extra.numbered_parts` names the parts whose pages have numbers; `extra.nav_titles` of
mkdocs.zh.yml translates the titles of the parts.
"""

from collections.abc import Iterator
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.pages.files import Entry, load_yaml


class Part(NamedTuple):
    """A part of the book and the names of its pages: masks.md, labs/look-inside.md."""

    title: str  # in English
    is_numbered: bool
    pages: list[str]


def settings(language: str) -> Entry:
    """The settings of a language's site, as they are in its own file."""
    path = paths.ROOT / ("mkdocs.yml" if language == "en" else f"mkdocs.{language}.yml")
    parsed = load_yaml(path) if path.exists() else None
    return parsed if isinstance(parsed, Entry) else Entry()


def page_names(nav: object) -> Iterator[str]:
    """The pages of a nav, of any kind that MkDocs allows, in order."""
    for item in nav if isinstance(nav, list) else [nav]:
        if isinstance(item, dict):
            for value in item.values():
                yield from page_names(value)
        elif isinstance(item, str) and item.endswith(".md") and "://" not in item:
            yield str(item)


def load_parts() -> list[Part]:
    """The parts of the book, in order; pages outside of any part are left out."""
    config = settings("en")
    numbered = config.get("extra", {}).get("numbered_parts", [])
    parts = (item for item in config.get("nav", []) if isinstance(item, dict))
    return [
        Part(str(title), title in numbered, [*page_names(pages)])
        for item in parts
        for title, pages in item.items()
        if isinstance(pages, list)
    ]


def part_title(part: Part, language: str) -> str:
    """The title of a part in a language."""
    return settings(language).get("extra", {}).get("nav_titles", {}).get(part.title, part.title)


def ordered_pages() -> list[str]:
    """The names of all pages of the table of contents, in order."""
    return [*page_names(settings("en").get("nav", []))]


def chapter_number(name: str) -> int | None:
    """The number of a chapter: the second page of the numbered parts has the number 2."""
    chapters = [page for part in load_parts() if part.is_numbered for page in part.pages]
    return chapters.index(name) + 1 if name in chapters else None
