"""The MkDocs hooks: each calls something that is tested elsewhere."""

import logging
import os
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urljoin

import jieba
from jinja2 import FileSystemBytecodeCache, TemplateSyntaxError
from material.plugins.search.plugin import SearchIndex
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

# MkDocs loads this file by its path, with no package around it.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.check.review import with_pending_note, with_relative_note
from bookbuild.check.translation import notebook_errors
from bookbuild.mkdocs_site import formulas, markdown_export, render_cache
from bookbuild.mkdocs_site.log_filters import LinkLocations, NavLocations
from bookbuild.mkdocs_site.markdown_extension import BookExtension
from bookbuild.mkdocs_site.page_html import (
    add_code_breaks,
    add_line_counts,
    merge_highlight_spans,
    searchable_html,
    strip_indentation,
    wrap_tables,
)
from bookbuild.mkdocs_site.staged_site import StagedSite
from bookbuild.mkdocs_site.theme_patches import UNUSED_FILES, patch_theme
from bookbuild.pages import notebooks, paths
from bookbuild.pages.errors import SetupError, SourceError, describe_os_error
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import glossary_errors
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import section_errors
from bookbuild.pages.values import replace_values
from bookbuild.publish import csp, feed, offline
from bookbuild.reference import bibliography, claims, quizzes, reading_time
from bookbuild.run import generate
from bookbuild.run.locks import check_port

log = logging.getLogger("mkdocs.hooks.book")
MARKUP = BookExtension()
SERVING = False  # mkdocs serve, not mkdocs build
REPLACING = False  # mkdocs build, the whole of it
SITE: StagedSite | None = None  # what a build fills
MATH_CACHE: dict[tuple[str, bool], str] = {}  # (TeX, displayed): HTML
FULL_HTML: dict[str, str] = {}  # a page's HTML while the search reads less of it
NAV: list[Navigation] = []  # the pages being built, in their order


def on_startup(command: str, dirty: bool) -> None:
    global SERVING, REPLACING
    SERVING = command == "serve"
    REPLACING = command == "build" and not dirty
    # In the folder for temporary files another user's copy may be unwritable, or not be trusted.
    jieba.dt.tmp_dir = str(paths.GENERATED)


def on_shutdown() -> None:
    if SITE:
        try:
            SITE.end()
        except OSError as error:
            what = describe_os_error(error) or f"{SITE.folder} can't be replaced ({error.strerror})"
            raise PluginError(what) from None


def on_build_error(error: Exception) -> None:
    """Whatever stops a build is told in a line, and the old site stays."""
    if SITE:
        SITE.whole = False
    what = describe_os_error(error)
    if isinstance(error, SourceError | SetupError):
        what = str(error)
    elif isinstance(error, TemplateSyntaxError) and error.filename:
        what = f"{error.message}; correct the template, or git restore it"
        what = str(SourceError(Path(error.filename), error.lineno, what))
    if what:
        log.error(what)
        raise Abort("Aborted with a fault!") from None


def language(config: MkDocsConfig) -> str:
    return config.theme["language"]


def source_of(page: Page, config: MkDocsConfig) -> SourcePage:
    return SourcePage(language(config), page.file.src_uri)


@event_priority(100)  # before the search plugin reads its list of words
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    global SITE
    if SERVING:
        check_port(*config.dev_addr)
    if language(config) == "en" and REPLACING:
        SITE = StagedSite(config.site_dir)
        config.site_dir = str(SITE.part)
    if language(config) == "en" and generate.is_stale():  # the Chinese build follows at once
        folders = [str(paths.SCRIPTS), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
        command = [sys.executable, "-m", "bookbuild.run.generate"]
        status = subprocess.run(command, env=environment).returncode
        if status < 0:
            how = "is there memory enough? Run it again: what was made is kept"
            raise PluginError(f"scripts/generate was killed by signal {-status}; {how}")
        if status:
            raise PluginError("scripts/generate failed; see the errors above")
    config.markdown_extensions.append(MARKUP)  # type: ignore[arg-type]
    set_alternates(config, "")
    logging.getLogger("mkdocs.structure.pages").filters[:] = [LinkLocations(language(config))]
    logging.getLogger("mkdocs.structure.nav").filters[:] = [NavLocations(config)]
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    """What is broken stops every build; what is forgotten, a strict one."""
    english = language(config) == "en"
    languages = LANGUAGES if english else (language(config),)
    broken = [*section_errors()]
    for page in (page for each in languages for page in list_pages(each)):
        broken += page_errors(page)
    broken += [*notebook_errors(), *glossary_errors()]
    if english:
        broken += [*bibliography.reference_errors(), *claims.claim_errors(), *feed.feed_errors()]
    if broken:
        raise PluginError("\n".join(dict.fromkeys(map(str, broken))))
    if english:  # once for both: the Chinese build follows the English one
        for fault in [*completeness_errors(), *bibliography.unused_references()]:
            log.warning(fault)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted(paths.DOWNLOADS.rglob("*.*")):
        name = path.relative_to(paths.GENERATED).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    path = bibliography.bib_file()
    files.append(File.generated(config, path.name, abs_src_path=str(path)))
    for page in list_pages(language(config)):
        if page.is_notebook:
            add_lab(page, files, config)
    for file in [
        file for file in files if any(fnmatch(file.src_uri, name) for name in UNUSED_FILES)
    ]:
        files.remove(file)
    worker = files.get_file_from_path("offline.js")
    if worker and language(config) == "zh":  # one worker keeps both languages
        files.remove(worker)
    return files


def add_lab(page: SourcePage, files: Files, config: MkDocsConfig) -> None:
    """A notebook as a page, and as a download that knows where this site lies."""
    notebook = page.path.name
    name = page.name.replace(".md", ".ipynb")
    there, here = notebooks.site_url(page.path), root_url(config)
    old = files.get_file_from_path(name)
    if old:
        files.remove(old)
    download = page.path.read_text(encoding="utf-8").replace(there, here)
    files.append(File.generated(config, name, content=download))
    text = notebooks.with_notebook_links(
        page.text.replace(there, here), notebook, page.language, config.repo_url or ""
    )
    made = File.generated(config, page.name, content=text)
    made.edit_uri = name  # type: ignore[read-only]
    files.append(made)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    NAV[:] = [nav]
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    MARKUP.page = source = source_of(page, config)
    markdown = bibliography.expand_citations(markdown, source.language)
    markdown = with_keeping(replace_values(markdown))
    if source.is_pending:
        markdown = with_pending_note(markdown, source, root_url(config))
    needs = page.meta.get("needs")
    if needs is not None:
        markdown = reading_time.add_reading_line(markdown, needs, source.language)
    if SERVING:
        render_cache.track_page(page, source, markdown, config, files)
    return markdown


def with_keeping(markdown: str) -> str:
    """The page with the button that keeps the book, unless the book is just being written."""
    return markdown.replace(' data-widget="offline"', "") if SERVING else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    source = source_of(page, config)
    if source.is_pending:
        html = with_relative_note(html, source, root_url(config))
    return reading_time.fill_minutes(html)


def on_env(env, config: MkDocsConfig, files: Files):
    """All formulas of all pages at once, now that the HTML is there."""
    templates = paths.GENERATED / "templates"  # compiled once for all builds
    templates.mkdir(exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(templates))
    pages = [file.page for file in files.documentation_pages() if file.page]
    wanted = {f for page in pages for f in formulas_of(page, config)}
    try:
        MATH_CACHE.update(formulas.render_formulas(wanted))
    except ValueError as error:
        tex, reason = error.args
        raise PluginError("\n".join(map(str, formula_faults(config, tex, reason)))) from None
    css, fonts = formulas.style_sheet(MATH_CACHE[each] for each in sorted(wanted))
    files.append(File.generated(config, "assets/formulas.css", content=css))
    for name, content in fonts.items():
        files.append(File.generated(config, f"assets/fonts/{name}", content=content))
    return env


def formulas_of(page: Page, config: MkDocsConfig) -> list[tuple[str, bool]]:
    content = page.content or ""
    return render_cache.cached_step(
        source_of(page, config), "formulas", lambda: formulas.find_formulas(content)
    )


def formula_faults(config: MkDocsConfig, tex: str, reason: str) -> list[SourceError]:
    """The formula's places in the sources, by its first line."""
    first = tex.splitlines()[0]
    reason += "; katex.org/docs/supported.html lists what there is"
    found = [
        page.error(page.text.find(first), reason)
        for page in list_pages(language(config))
        if first in page.text
    ]
    return [*found, *quizzes.errors_at_text(first, reason)]


@event_priority(100)
def before_search(context, page: Page, config: MkDocsConfig, nav):
    """The search parses the whole of a page; figures and formulas would keep it for seconds."""
    source, html = source_of(page, config), page.content or ""
    index = config.plugins["material/search"].search_index  # type: ignore[attr-defined]

    def entries() -> list[dict]:
        found = SearchIndex(**index.config)
        page.content = searchable_html(html)
        found.add_entry_from_context(page)
        return found.entries

    index.entries += render_cache.cached_step(source, "search", entries)
    FULL_HTML[page.file.src_uri] = html
    page.content = ""  # there is nothing left for the plugin to read
    return context


@event_priority(-100)
def after_search(context, page: Page, config: MkDocsConfig, nav):
    set_alternates(config, page.url)
    html = FULL_HTML.pop(page.file.src_uri)

    def finished() -> str:
        whole = formulas.replace_formulas(html, MATH_CACHE)
        return wrap_tables(add_line_counts(add_code_breaks(merge_highlight_spans(whole))))

    page.content = render_cache.cached_step(source_of(page, config), "html", finished)
    return context


on_page_context = CombinedEvent(before_search, after_search)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return strip_indentation(output)


def root_url(config: MkDocsConfig) -> str:
    """Where the site lies, whichever language is being built."""
    root = config.site_url or "/"
    return urljoin(root, "..") if language(config) == "zh" else root


def set_alternates(config: MkDocsConfig, url: str) -> None:
    """The page in both languages: relative for the switch, absolute for search engines."""
    root = root_url(config)
    up = "../" if language(config) == "zh" else ""
    config.extra["alternate"] = [
        {
            "name": "English",
            "lang": "en",
            "link": up + url or "./",
            "absolute": root + url,
        },
        {
            "name": "中文",
            "lang": "zh",
            "link": url or "./" if up else f"zh/{url}",
            "absolute": f"{root}zh/{url}",
        },
    ]


def on_post_build(config: MkDocsConfig) -> None:
    """After the English site, the Chinese one, into its folder zh/."""
    global SITE
    patch_theme(config)
    other = "llms.txt" if language(config) == "zh" else "zh/llms.txt"
    markdown_export.write_copies(NAV[0], config, language(config), root_url(config) + other)
    news = feed.rss(
        language(config), config.site_url or "/", config.site_name, config.site_description or ""
    )
    write_file(Path(config.site_dir, "feed.xml"), news)
    if language(config) == "zh":
        return
    chinese = load_config(
        str(paths.ROOT / "mkdocs.zh.yml"),
        site_dir=os.path.join(config.site_dir, "zh"),
        site_url=urljoin(config.site_url or "/", "zh/"),
        strict=config.strict,
    )
    site, SITE = SITE, None  # the hooks of both are one module, and the site is not yet at its end
    try:
        chinese.plugins.on_startup(command="serve" if SERVING else "build", dirty=False)
        build(chinese)
        chinese.plugins.on_shutdown()
    finally:
        SITE = site
    if not SERVING:  # the server puts a script of its own into each page
        csp.add_policy(Path(config.site_dir), comments="giscus" in config.extra)
        offline.write_lists(Path(config.site_dir))  # last: it tells the bytes of all the others
    if SITE:
        SITE.whole = True
