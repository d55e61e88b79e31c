"""Passes MkDocs' pages and navigation to publish.markdown_copies."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from bookbuild.pages.files import write_file
from bookbuild.publish.markdown_copies import PageCopy, llms_txt

HEADINGS = {"en": ("Chapters", "Reference"), "zh": ("各章", "查阅")}
MINUTES = re.compile(r'<p class="reading"[^>]*>\D*(\d+)')


def page_copy(page: Page, config: MkDocsConfig, language: str) -> PageCopy:
    minutes = MINUTES.search(page.content or "")
    text = page.markdown or ""
    return PageCopy(
        language,
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        text.replace("MINUTES", minutes[1], 1) if minutes else text,
    )


def navigation_parts(nav: Navigation, language: str) -> dict[str, list[Page]]:
    """The pages by the heading of their part; pages outside a part are chapters or reference."""
    heading, last = HEADINGS[language]
    parts: dict[str, list[Page]] = {}
    for item in nav.items:
        if isinstance(item, Page):
            parts.setdefault(heading, []).append(item)
        else:
            parts[item.title] = [page for page in nav.pages if item in page.ancestors]
            heading = last
    return parts


def write_copies(nav: Navigation, config: MkDocsConfig, language: str, other: str) -> None:
    """A copy beside each page of a built site, and their list; other is the address of the other
    language's list."""
    parts = {
        heading: [page_copy(page, config, language) for page in pages]
        for heading, pages in navigation_parts(nav, language).items()
    }
    for copy in (copy for copies in parts.values() for copy in copies):
        write_file(Path(config.site_dir, copy.path), copy.text())
    about, root = config.site_description or "", config.site_url or "/"
    text = llms_txt(config.site_name, about, parts, language, root, other)
    write_file(Path(config.site_dir, "llms.txt"), text)
