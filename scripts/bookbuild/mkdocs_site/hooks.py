"""The MkDocs hooks. Each only calls functions that are tested on their own."""

import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jieba
from jinja2 import FileSystemBytecodeCache, TemplateSyntaxError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

# MkDocs loads this file by its path, with no package around it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bookbuild.mkdocs_site import page_content, render_cache, site_files, site_output, source_checks
from bookbuild.mkdocs_site.build_state import STATE, StagedSite
from bookbuild.mkdocs_site.languages import build_language, set_alternates, source_page
from bookbuild.mkdocs_site.log_filters import locate_links, locate_nav_errors
from bookbuild.mkdocs_site.markdown_extension import BookExtension
from bookbuild.mkdocs_site.page_html import strip_indentation
from bookbuild.mkdocs_site.theme_patches import patch_theme
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError, describe_error
from bookbuild.publish import csp
from bookbuild.run.locks import check_port

log = logging.getLogger("mkdocs.hooks.book")
EXTENSION = BookExtension()


def on_startup(command: str, dirty: bool) -> None:
    STATE.serving = command == "serve"
    STATE.replaces_site = command == "build" and not dirty
    # In the folder for temporary files another user's copy may be unwritable, or not be trusted.
    jieba.dt.tmp_dir = str(paths.GENERATED)


def on_serve(server: LiveReloadServer, config: MkDocsConfig, builder: Callable) -> None:
    STATE.can_fork = False


def on_shutdown() -> None:
    site_output.stop_chinese_build()
    if STATE.staged_site:
        STATE.staged_site.finish()


def on_build_error(error: Exception) -> None:
    """Report a known error in one line; the old site stays as it is."""
    if STATE.staged_site:
        STATE.staged_site.is_complete = False
    message = describe_error(error)
    if isinstance(error, TemplateSyntaxError) and error.filename:
        hint = "correct the template, or git restore it"
        message = str(SourceError(Path(error.filename), error.lineno, f"{error.message}; {hint}"))
    if message:
        log.error(message)
        raise Abort("Aborted because of an error") from None


def on_config(config: MkDocsConfig) -> None:
    language = build_language(config)
    if STATE.serving:
        check_port(*config.dev_addr)
    if language == "en" and STATE.replaces_site:  # which the Chinese one fills too
        STATE.staged_site = StagedSite(config.site_dir)
        config.site_dir = str(STATE.staged_site.part)
    config.markdown_extensions.append(EXTENSION)  # type: ignore[arg-type]
    set_alternates(config, "")
    logging.getLogger("mkdocs.structure.pages").filters[:] = [partial(locate_links, language)]
    logging.getLogger("mkdocs.structure.nav").filters[:] = [partial(locate_nav_errors, config)]


def on_pre_build(config: MkDocsConfig) -> None:
    if build_language(config) == "en":
        site_output.keep_chinese_site(config, source_checks.prepare_sources())
    search = config.plugins["material/search"]
    search.search_index = page_content.BookIndex(config)  # type: ignore[attr-defined]


def on_files(files: Files, config: MkDocsConfig) -> None:
    if build_language(config) == "en" and STATE.can_fork:  # MkDocs has just emptied its folder
        site_output.start_chinese_build(config)
    site_files.add_generated_files(files, config)
    site_files.add_labs(files, config)
    site_files.remove_unused_files(files, config)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    titles = config.extra.get("nav_titles", {})
    for item in (item for item in nav.items if item.title in titles):
        item.title = titles[item.title]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    EXTENSION.page = source = source_page(page, config)
    markdown = page_content.expand_markdown(markdown, page, config)
    if STATE.serving:
        render_cache.track_page(page, source, markdown, config, files)
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return page_content.fill_minutes(html, page)


def on_env(env, config: MkDocsConfig, files: Files) -> None:
    env.bytecode_cache = FileSystemBytecodeCache(str(paths.GENERATED / "fresh"))
    page_content.render_formulas(files, config)


@event_priority(-100)  # after the search plugin
def on_page_context(context, page: Page, config: MkDocsConfig, nav: Navigation) -> None:
    set_alternates(config, page.url)
    page_content.finish_html(page, config)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    site_output.write_markdown_copy(page, config)
    return strip_indentation(output)


def on_post_build(config: MkDocsConfig) -> None:
    patch_theme(config)
    if build_language(config) == "zh":
        return
    if STATE.chinese_build:
        site_output.finish_chinese_build()
    else:
        site_output.build_chinese_site(config)
    if not STATE.serving:  # the development server adds a script of its own to each page
        folder = Path(config.site_dir)
        site_output.minify_assets(folder)
        csp.add_policy(folder, comments="giscus" in config.extra)
    if STATE.staged_site:
        STATE.staged_site.is_complete = True
