"""Reuse the output of earlier builds for unchanged pages while the site is served.

The output of a page depends on its text, the files that it includes, the glossary, the list of
files, the configuration, and the code and packages that build the site. A page's key is a hash of
all of these. A cached step (rendering, formulas, search entries, HTML) is repeated only if the key
has changed. Results are kept in memory, and as pickles in .generated/ for the next start.
`mkdocs build` tracks no page, so it repeats every step.
"""

import functools
import hashlib
import logging
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import TableOfContents
from mkdocs.utils import CountHandler

from bookbuild.check.includes import include_folders
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import FIGURE, INCLUDE, SourcePage

Result = TypeVar("Result")
PAGE_KEYS: dict[SourcePage, str] = {}
CACHED_STEPS: dict[tuple[SourcePage, str], tuple[str, Any]] = {}  # (page, step): (key, result)
LOCK_FILES = "requirements.txt", "package-lock.json"
log = logging.getLogger("mkdocs.structure.pages")


def cached_step(page: SourcePage, step: str, compute: Callable[[], Result]) -> Result:
    """The result of a step for a page, computed only if the page's key has changed."""
    key = PAGE_KEYS.get(page)
    if key is None:
        return compute()
    cached = CACHED_STEPS.get((page, step)) or load_step(page, step)
    if not cached or cached[0] != key:
        cached = key, compute()
        write_file(step_path(page, step), pickle.dumps(cached))
    CACHED_STEPS[page, step] = cached
    return cached[1]


def step_path(page: SourcePage, step: str) -> Path:
    """The file that stores the result of a step."""
    return paths.GENERATED / "pages" / page.language / f"{page.name}.{step}.pickle"


def load_step(page: SourcePage, step: str) -> tuple[str, Any] | None:
    """The key and result that an earlier process stored, if they are readable."""
    with suppress(Exception):  # unpickling a damaged file may raise any exception
        return pickle.loads(step_path(page, step).read_bytes())
    return None


def forget_step(page: SourcePage, step: str) -> None:
    """Remove the result of a step from memory and from disk."""
    CACHED_STEPS.pop((page, step), None)
    step_path(page, step).unlink(missing_ok=True)


@functools.cache
def code_version() -> str:
    """A hash of the code and the packages that build the site, which a server loads once."""
    digest = hashlib.sha256(sys.version.encode())
    code = sorted(path for path in paths.SCRIPTS.glob("bookbuild/**/*") if path.suffix != ".pyc")
    for path in [*code, *(paths.ROOT / name for name in LOCK_FILES)]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def track_page(
    page: Page, source: SourcePage, text: str, config: MkDocsConfig, files: Files
) -> None:
    """Set the key of a page with this text, and make its rendering a cached step."""
    parts = [text, *included_text(text, source.language), *sorted(files.src_uris)]
    parts += [repr(part) for part in (page.meta, tooltips(source.language), config.mdx_configs)]
    parts += [str(config.nav), str(config.site_url), code_version()]
    PAGE_KEYS[source] = hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def render(config: MkDocsConfig, files: Files) -> None:
        result = cached_step(source, "render", lambda: render_page(page, config, files))
        result.restore(page, files)
        if result.has_warnings:  # every build logs them
            forget_step(source, "render")

    page.render = render  # type: ignore[method-assign]


def included_text(text: str, language: str) -> Iterator[str]:
    """The text of every file and figure that a page includes, directly or not."""
    names = [match[1] for match in INCLUDE.finditer(text)]
    names += [match[2] for match in FIGURE.finditer(text)]
    for name in names:
        folders = include_folders(language)
        path = next((file for folder in folders if (file := folder / name).is_file()), None)
        if path:
            included = path.read_text(encoding="utf-8")
            yield included
            yield from included_text(included, language)


class RenderedPage(NamedTuple):
    """The attributes that MkDocs sets on a page when it renders it."""

    content: str | None
    toc: TableOfContents
    title: str | None
    anchors: set[str] | None
    links: dict[str, dict[str, str]]  # anchors in other files, by the files' names
    has_warnings: bool

    def restore(self, page: Page, files: Files) -> None:
        page.content, page.toc = self.content, self.toc
        page._title_from_render, page.present_anchor_ids = self.title, self.anchors
        page.links_to_anchors = {files.src_uris[name]: links for name, links in self.links.items()}


def render_page(page: Page, config: MkDocsConfig, files: Files) -> RenderedPage:
    """Render a page with MkDocs, and count its warnings."""
    counter = CountHandler()
    log.addHandler(counter)
    try:
        Page.render(page, config, files)
    finally:
        log.removeHandler(counter)
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    title, anchors = page._title_from_render, page.present_anchor_ids
    has_warnings = bool(counter.get_counts())
    return RenderedPage(page.content, page.toc, title, anchors, links, has_warnings)
