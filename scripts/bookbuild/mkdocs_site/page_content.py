"""What the build changes in a page: its Markdown, its formulas, its search entries, its HTML."""

import copy
import functools
import io
import re

import jieba
from material.plugins.search.plugin import SearchIndex
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from bookbuild.check.includes import expand_includes
from bookbuild.check.pending import with_pending_note
from bookbuild.mkdocs_site import formulas
from bookbuild.mkdocs_site.languages import build_language, source_page
from bookbuild.mkdocs_site.page_html import (
    add_code_breaks,
    add_line_counts,
    searchable_html,
    wrap_tables,
)
from bookbuild.mkdocs_site.render_cache import cached_step
from bookbuild.pages import fresh
from bookbuild.pages.errors import SourceError
from bookbuild.pages.glossary import segmentation_words
from bookbuild.pages.page import list_pages
from bookbuild.pages.values import replace_values
from bookbuild.reference import bibliography, quizzes, reading_time

RENDERED_FORMULAS: dict[formulas.Formula, str] = {}  # HTML


def expand_markdown(markdown: str, page: Page, config: MkDocsConfig) -> str:
    """The Markdown with citations, values, notes, the reading line and included files."""
    source = source_page(page, config)
    text = bibliography.expand_citations(markdown, source.language)
    text = replace_values(text, config.repo_url)
    text = text.replace(f"# {source.heading}\n", f"# {source.title}\n", 1)
    if source.is_pending:
        text = with_pending_note(text, source)
    needs = page.meta.get("needs")
    if needs is not None:
        text = reading_time.add_reading_line(text, needs, source.language)
    try:
        text = expand_includes(text, source.language)
    except ValueError as error:  # in a generated file; page_errors checks the page's own
        raise source.error(0, str(error)) from None
    return with_source_links(text, config.repo_url or "")


def fill_minutes(html: str, page: Page) -> str:
    """The HTML with the reading time in the line below its title; changes the Markdown too."""
    if page.meta.get("needs") is None:
        return html
    minutes = str(reading_time.reading_minutes(html))
    page.markdown = (page.markdown or "").replace("MINUTES", minutes, 1)
    return html.replace("MINUTES", minutes, 1)


def with_source_links(markdown: str, repository: str) -> str:
    """Links to files of this repository, [text](source:PATH#L1), with its address; without one,
    only the text."""
    link = rf"[\1]({repository.rstrip('/')}/blob/main/\2)\3" if repository else r"\1"
    return re.sub(r"\[([^]]*)\]\(source:([^)\s]+)\)(\{[^}]*\})?", link, markdown)


def render_formulas(files: Files, config: MkDocsConfig) -> None:
    """Render the formulas of all pages; add the style sheet and the fonts that they need."""
    pages = [file.page for file in files.documentation_pages() if file.page]
    needed = sorted({each for page in pages for each in formulas.find_formulas(page.content or "")})

    def render() -> tuple[dict[formulas.Formula, str], str, dict[str, bytes]]:
        rendered = formulas.render_formulas(needed)
        return rendered, *formulas.style_sheet(rendered.values())

    language = build_language(config)
    try:
        key = fresh.hash_texts(map(repr, needed))
        rendered, css, fonts = fresh.cached(f"pages/{language}/formulas", key, render)
    except ValueError as error:
        raise PluginError("\n".join(map(str, formula_errors(language, *error.args)))) from None
    RENDERED_FORMULAS.update(rendered)
    files.append(File.generated(config, "assets/formulas.css", content=css))
    for name, content in fonts.items():
        files.append(File.generated(config, f"assets/fonts/{name}", content=content))


def formula_errors(language: str, tex: str, reason: str) -> list[SourceError]:
    """An error for each place of a formula in the sources, found by its first line."""
    first_line = tex.splitlines()[0]
    message = f"{reason}; katex.org/docs/supported.html lists what there is"
    errors = [
        page.error(page.text.find(first_line), message)
        for page in list_pages(language)
        if first_line in page.text
    ]
    return [*errors, *quizzes.errors_at_text(first_line, message)]


class BookIndex(SearchIndex):
    """Indexes pages without figures and TeX, and only the changed pages while serving."""

    def __init__(self, config: MkDocsConfig):
        plugin = config.plugins["material/search"]
        super().__init__(**plugin.config)
        self.mkdocs_config = config

    def add_entry_from_context(self, page: Page) -> None:
        source = source_page(page, self.mkdocs_config)

        def make_entries() -> list[dict]:
            if source.language == "zh":
                load_words(segmentation_words())
            index, shortened = SearchIndex(**self.config), copy.copy(page)
            shortened.content = searchable_html(page.content or "")
            index.add_entry_from_context(shortened)
            return index.entries

        self.entries += cached_step(source, "search", make_entries)


@functools.cache
def load_words(words: str) -> None:
    """Load jieba's dictionary, which takes half a second, and words that search must not split."""
    jieba.load_userdict(io.StringIO(words))


def finish_html(page: Page, config: MkDocsConfig) -> None:
    """Insert the rendered formulas into the page's HTML, and prepare its code and tables."""
    html = page.content or ""

    def finish() -> str:
        rendered = formulas.replace_formulas(html, RENDERED_FORMULAS, config.repo_url)
        return wrap_tables(add_line_counts(add_code_breaks(rendered)))

    page.content = cached_step(source_page(page, config), "html", finish)
