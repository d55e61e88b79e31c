"""A page that is as it was isn't made anew while the book is served.

What a build makes of a page depends on its text, on what it takes in, on the glossary, on which
files there are and on how Markdown is set. The key of a page says all that; a step that has made
something of a page takes it again as long as the key is the same. Scripts and KaTeX aren't in it:
a server reads them once. What is built to stay has no keys, and each step is taken.
"""

import hashlib
import logging
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import TableOfContents
from mkdocs.utils import CountHandler

from bookbuild.check.includes import include_folders
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import FIGURE, INCLUDE, SourcePage

Made = TypeVar("Made")
PAGE_KEYS: dict[SourcePage, str] = {}
CACHED_STEPS: dict[
    tuple[SourcePage, str], tuple[str, Any]
] = {}  # by page and step: for which key, and what
log = logging.getLogger("mkdocs.structure.pages")


def cached_step(page: SourcePage, step: str, make: Callable[[], Made]) -> Made:
    """What a step makes of a page, or has made of it before."""
    key = PAGE_KEYS.get(page)
    if key is None:
        return make()
    if (page, step) not in CACHED_STEPS or CACHED_STEPS[page, step][0] != key:
        CACHED_STEPS[page, step] = key, make()
    return CACHED_STEPS[page, step][1]


def track_page(
    page: Page, source: SourcePage, text: str, config: MkDocsConfig, files: Files
) -> None:
    """From now on, of this page with this text, each step is taken once."""
    parts = [text, *included_text(text, source.language), *sorted(files.src_uris)]
    parts += [repr(each) for each in (page.meta, tooltips(source.language))]
    parts += [repr(config.mdx_configs), str(config.site_url)]
    PAGE_KEYS[source] = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def render(config: MkDocsConfig, files: Files) -> None:
        cached_step(source, "render", lambda: rendered(page, config, files)).put(page, files)
        if not CACHED_STEPS[source, "render"][1].right:  # what is wrong is told at each build
            del CACHED_STEPS[source, "render"]

    page.render = render  # type: ignore[method-assign]


def included_text(text: str, language: str) -> Iterator[str]:
    """What a page shows besides its own text: what it includes, what that includes, figures."""
    names = [match[1] for match in INCLUDE.finditer(text)]
    names += [match[2] for match in FIGURE.finditer(text)]
    for name in names:
        path = next((p for b in include_folders(language) if (p := b / name).is_file()), None)
        if path:
            found = path.read_text(encoding="utf-8")
            yield found
            yield from included_text(found, language)


class Rendered(NamedTuple):
    """What MkDocs keeps of a page's rendering, and whether it had nothing to complain of."""

    content: str | None
    toc: TableOfContents
    title: str | None
    anchors: set[str] | None
    links: dict[str, dict[str, str]]  # anchors in other files, by the files' names
    right: bool

    def put(self, page: Page, files: Files) -> None:
        page.content, page.toc = self.content, self.toc
        page._title_from_render, page.present_anchor_ids = self.title, self.anchors
        page.links_to_anchors = {files.src_uris[name]: links for name, links in self.links.items()}


def rendered(page: Page, config: MkDocsConfig, files: Files) -> Rendered:
    told = CountHandler()
    log.addHandler(told)
    try:
        Page.render(page, config, files)
    finally:
        log.removeHandler(told)
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    title, anchors = page._title_from_render, page.present_anchor_ids
    return Rendered(page.content, page.toc, title, anchors, links, not told.get_counts())
