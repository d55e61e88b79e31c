"""What the build changes in a page: its Markdown, its search entries, its HTML."""

from material.plugins.search.plugin import SearchIndex
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from bookbuild.check.review import with_pending_note, with_relative_note
from bookbuild.mkdocs_site import formulas, render_cache
from bookbuild.mkdocs_site.languages import root_url, source_page
from bookbuild.mkdocs_site.page_formulas import MATH_CACHE
from bookbuild.mkdocs_site.page_html import (
    add_code_breaks,
    add_line_counts,
    merge_highlight_spans,
    searchable_html,
    wrap_tables,
)
from bookbuild.pages.values import replace_values
from bookbuild.reference import bibliography, reading_time

FULL_HTML: dict[str, str] = {}  # by source path, while the search plugin sees an empty page


def expand_markdown(markdown: str, page: Page, config: MkDocsConfig, serving: bool) -> str:
    """The Markdown with citations, values, notes and the reading line filled in."""
    source = source_page(page, config)
    markdown = replace_values(bibliography.expand_citations(markdown, source.language))
    if serving:
        markdown = without_offline_button(markdown)
    if source.is_pending:
        markdown = with_pending_note(markdown, source, root_url(config))
    needs = page.meta.get("needs")
    if needs is not None:
        markdown = reading_time.add_reading_line(markdown, needs, source.language)
    return markdown


def without_offline_button(markdown: str) -> str:
    """While pages are being edited, none must come from an offline copy."""
    return markdown.replace(' data-widget="offline"', "")


def complete_html(html: str, page: Page, config: MkDocsConfig) -> str:
    """The HTML with the note of a pending page and the minutes that the page takes."""
    source = source_page(page, config)
    if source.is_pending:
        html = with_relative_note(html, source, root_url(config))
    return reading_time.fill_minutes(html)


def index_for_search(page: Page, config: MkDocsConfig) -> None:
    """Add the page's search entries, made from shortened HTML: parsing figures and formulas takes
    seconds. Material's plugin then gets an empty page."""
    html = page.content or ""
    index = config.plugins["material/search"].search_index  # type: ignore[attr-defined]

    def make_entries() -> list[dict]:
        own_index = SearchIndex(**index.config)
        page.content = searchable_html(html)
        own_index.add_entry_from_context(page)
        return own_index.entries

    index.entries += render_cache.cached_step(source_page(page, config), "search", make_entries)
    FULL_HTML[page.file.src_uri] = html
    page.content = ""


def finish_html(page: Page, config: MkDocsConfig) -> None:
    """Put the page's full HTML back, with formulas rendered and code and tables prepared."""
    html = FULL_HTML.pop(page.file.src_uri)

    def finish() -> str:
        rendered = formulas.replace_formulas(html, MATH_CACHE)
        return wrap_tables(add_line_counts(add_code_breaks(merge_highlight_spans(rendered))))

    page.content = render_cache.cached_step(source_page(page, config), "html", finish)
