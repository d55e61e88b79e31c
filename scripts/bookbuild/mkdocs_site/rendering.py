"""How MkDocs renders a page: again only if something has changed while the site is served.

Each page then has a key: a hash of its text and files, the glossary, the list of files and the
configuration. Its cached steps (rendering, search entries) are repeated only if the key has
changed. `mkdocs build` gives pages no keys, so it repeats these steps.
"""

import logging
from collections.abc import Callable
from functools import partial
from logging.handlers import BufferingHandler
from typing import TypeVar

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site import markdown_extension
from bookbuild.mkdocs_site.languages import source_page
from bookbuild.pages import fresh, paths
from bookbuild.pages.page import FIGURE

Result = TypeVar("Result")
SHARED_INPUTS = "docs/glossary.yml", "mkdocs.yml", "mkdocs.zh.yml"  # of all pages
# What MkDocs sets on a page when it renders it, except the links, which refer to other pages.
RENDERED_ATTRIBUTES = ("content", "toc", "_title_from_render", "present_anchor_ids")
log = logging.getLogger("mkdocs.structure.pages")


def prepare_page(
    markdown: str, page: Page, config: MkDocsConfig, files: Files, *, tracked: bool
) -> None:
    """Tell the extension which page MkDocs renders next, and expand the text for its copy."""
    config.mdx_configs[markdown_extension.__name__]["page"] = page.file.src_uri
    expand = partial(markdown_extension.expanded_text, markdown, config.mdx_configs)
    text = expanded_text(markdown, page, config, expand) if tracked else expand()
    page.expanded = text  # type: ignore[attr-defined]
    if tracked:
        track_page(page, text, config, files)


def expanded_text(
    markdown: str, page: Page, config: MkDocsConfig, expand: Callable[[], str]
) -> str:
    """The expanded text of a page, again only if it or what the build is made from has changed."""
    source = source_page(page, config)
    # A pending page also contains the text of its translation.
    texts = [markdown, source.translation.text if source.is_pending else "", config.repo_url or ""]
    key = fresh.hash_texts([fresh.recorded("generated")[0], *texts])
    return fresh.cached(f"pages/{source.language}/{source.name}.expanded", key, expand)


def cached_step(page: Page, step: str, compute: Callable[[], Result]) -> Result:
    """The result of a step for a page, repeated only if the page's key has changed."""
    name, key = getattr(page, "cache_entry", ("", ""))
    return fresh.cached(f"{name}.{step}", key, compute) if key else compute()


def track_page(page: Page, text: str, config: MkDocsConfig, files: Files) -> None:
    """Set the key of a page with this text, and make its rendering a cached step."""
    source = source_page(page, config)
    figures = [paths.GENERATED / source.language / match[2] for match in FIGURE.finditer(text)]
    inputs = fresh.hash_files([source.path, *figures, *SHARED_INPUTS])
    addresses = f"{config.site_url} {config.repo_url}"
    key = fresh.hash_texts([text, inputs, addresses, *sorted(files.src_uris)])
    page.cache_entry = f"pages/{source.language}/{source.name}", key  # type: ignore[attr-defined]
    render_page = page.render

    def render(config: MkDocsConfig, files: Files) -> None:
        attributes, links, messages = cached_step(
            page, "render", lambda: rendered_attributes(page, partial(render_page, config, files))
        )
        vars(page).update(attributes)
        page.links_to_anchors = {files.src_uris[name]: anchors for name, anchors in links.items()}
        for record in messages:
            log.handle(record)

    page.render = render  # type: ignore[method-assign]


def rendered_attributes(page: Page, render: Callable[[], None]) -> tuple[dict, dict, list]:
    """Render a page with MkDocs; returns its attributes, the anchors that it links to in other
    files, by their names, and the messages that each build logs."""
    handler = BufferingHandler(capacity=1_000_000)
    log.addHandler(handler)
    log.propagate = False
    try:
        render()
    finally:
        log.propagate = True
        log.removeHandler(handler)
    attributes = {name: getattr(page, name) for name in RENDERED_ATTRIBUTES}
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    return attributes, links, handler.buffer
