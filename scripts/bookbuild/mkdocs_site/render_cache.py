"""Reuse results of earlier builds whose inputs have not changed.

Results are kept in memory, and as pickles in .generated/ for the next start. While the site is
served, each page has a key: a hash of its text, its figures, the glossary, the list of files and
the configuration. Its cached steps (rendering, search entries, HTML) are repeated only if the key
has changed. `mkdocs build` gives pages no keys, so it repeats these steps.
"""

import functools
import hashlib
import logging
import pickle
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import CountHandler

from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import FIGURE, SourcePage

Result = TypeVar("Result")
PAGE_KEYS: dict[SourcePage, str] = {}
RESULTS: dict[str, tuple[str, Any]] = {}  # name: (key, result)
LOCK_FILES = "requirements.txt", "package-lock.json"
# What MkDocs sets on a page when it renders it, except the links, which refer to other pages.
RENDERED_ATTRIBUTES = ("content", "toc", "_title_from_render", "present_anchor_ids")
log = logging.getLogger("mkdocs.structure.pages")


def cached(name: str, key: str | None, compute: Callable[[], Result]) -> Result:
    """The result of a computation, repeated only if the key or the code has changed."""
    if not key:
        return compute()
    key = f"{code_version()} {key}"
    stored = RESULTS.get(name) or load_result(name)
    if not stored or stored[0] != key:
        stored = key, compute()
        write_file(result_path(name), pickle.dumps(stored))
    RESULTS[name] = stored
    return stored[1]


def cached_step(page: SourcePage, step: str, compute: Callable[[], Result]) -> Result:
    """The result of a step for a page, repeated only if the page's key has changed."""
    return cached(f"{page.language}/{page.name}.{step}", PAGE_KEYS.get(page), compute)


def result_path(name: str) -> Path:
    return paths.GENERATED / "cache" / f"{name}.pickle"


def load_result(name: str) -> tuple[str, Any] | None:
    """The key and result that an earlier process stored, if they are readable."""
    with suppress(Exception):  # unpickling a damaged file may raise any exception
        return pickle.loads(result_path(name).read_bytes())
    return None


def hash_texts(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def hash_files(files: Iterable[Path]) -> str:
    """A hash of the names and the contents of these files, without bytecode."""
    digest = hashlib.sha256()
    for path in sorted(files):
        if "__pycache__" not in path.parts:
            digest.update(f"{path}\0".encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()


@functools.cache
def code_version() -> str:
    """A hash of the code and the packages that build the site, which a server loads once."""
    locks = [(paths.ROOT / name).read_text(encoding="utf-8") for name in LOCK_FILES]
    return hash_texts([sys.version, hash_files(paths.SCRIPTS.glob("bookbuild/**/*")), *locks])


def track_page(
    page: Page, source: SourcePage, text: str, config: MkDocsConfig, files: Files
) -> None:
    """Set the key of a page with this text, and make its rendering a cached step."""
    figures = [paths.GENERATED / source.language / match[2] for match in FIGURE.finditer(text)]
    parts = [text, hash_files(figures), *sorted(files.src_uris)]
    parts += [repr(part) for part in (page.meta, tooltips(source.language), config.mdx_configs)]
    parts += [str(part) for part in (config.nav, config.site_url, config.repo_url)]
    PAGE_KEYS[source] = hash_texts(parts)

    def render(config: MkDocsConfig, files: Files) -> None:
        attributes, links, warnings = cached_step(
            source, "render", lambda: render_page(page, config, files)
        )
        vars(page).update(attributes)
        page.links_to_anchors = {files.src_uris[name]: anchors for name, anchors in links.items()}
        if warnings:  # every build logs them
            name = f"{source.language}/{source.name}.render"
            del RESULTS[name]
            result_path(name).unlink(missing_ok=True)

    page.render = render  # type: ignore[method-assign]


def render_page(page: Page, config: MkDocsConfig, files: Files) -> tuple[dict, dict, int]:
    """Render a page with MkDocs; returns its attributes, the anchors that it links to in other
    files, by their names, and the number of warnings."""
    counter = CountHandler()
    log.addHandler(counter)
    try:
        Page.render(page, config, files)
    finally:
        log.removeHandler(counter)
    attributes = {name: getattr(page, name) for name in RENDERED_ATTRIBUTES}
    links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
    return attributes, links, len(counter.get_counts())
