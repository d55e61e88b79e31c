"""Renders only changed pages while the site is served.

Each page then has a key: a hash of its text and files, the glossary, the list of files and the
configuration. Its cached steps (rendering, search entries, HTML) are repeated only if the key has
changed. `mkdocs build` gives pages no keys, so it repeats these steps.
"""

import logging
from collections.abc import Callable
from logging.handlers import BufferingHandler
from typing import TypeVar

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from bookbuild.pages import fresh, paths
from bookbuild.pages.page import FIGURE, SourcePage

Result = TypeVar("Result")
PAGE_KEYS: dict[SourcePage, str] = {}
SHARED_INPUTS = "docs/glossary.yml", "mkdocs.yml", "mkdocs.zh.yml"  # of all pages
# What MkDocs sets on a page when it renders it, except the links, which refer to other pages.
RENDERED_ATTRIBUTES = ("content", "toc", "_title_from_render", "present_anchor_ids")
log = logging.getLogger("mkdocs.structure.pages")


def cached_step(page: SourcePage, step: str, compute: Callable[[], Result]) -> Result:
    """The result of a step for a page, repeated only if the page's key has changed."""
    if page not in PAGE_KEYS:
        return compute()
    return fresh.cached(f"pages/{page.language}/{page.name}.{step}", PAGE_KEYS[page], compute)


def track_page(
    page: Page, source: SourcePage, text: str, config: MkDocsConfig, files: Files
) -> None:
    """Set the key of a page with this text, and make its rendering a cached step."""
    figures = [paths.GENERATED / source.language / match[2] for match in FIGURE.finditer(text)]
    inputs = fresh.hash_files([source.path, *figures, *SHARED_INPUTS])
    addresses = f"{config.site_url} {config.repo_url}"
    PAGE_KEYS[source] = fresh.hash_texts([text, inputs, addresses, *sorted(files.src_uris)])

    def render(config: MkDocsConfig, files: Files) -> None:
        attributes, links, messages = cached_step(
            source, "render", lambda: render_page(page, config, files)
        )
        vars(page).update(attributes)
        page.links_to_anchors = {files.src_uris[name]: anchors for name, anchors in links.items()}
        for record in messages:
            log.handle(record)

    page.render = render  # type: ignore[method-assign]


def render_page(page: Page, config: MkDocsConfig, files: Files) -> tuple[dict, dict, list]:
    """Render a page with MkDocs; returns its attributes, the anchors that it links to in other
    files, by their names, and the messages that each build logs."""
    handler = BufferingHandler(capacity=1_000_000)
    log.addHandler(handler)
    log.propagate = False
    try:
        Page.render(page, config, files)
    finally:
        log.propagate = True
        log.removeHandler(handler)
    attributes = {name: getattr(page, name) for name in RENDERED_ATTRIBUTES}
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    return attributes, links, handler.buffer
