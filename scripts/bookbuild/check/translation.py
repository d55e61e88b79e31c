"""Checks that pages are translated, and that the labs have the same code in both languages."""

from collections.abc import Iterator

from bookbuild.localize.labs import localized_cells
from bookbuild.pages.errors import SourceError
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES


def translation_errors() -> Iterator[SourceError]:
    """Pages without a translation, and Chinese pages that are older than their original."""
    for page in [page for language in LANGUAGES for page in list_pages(language)]:
        other, name = page.translation, page.name.removesuffix(".md")
        if not other.path.exists():
            problem = f"no translation {other.display_path}; write it"
        elif page.language == "en" or page.is_pending or other.is_pending:
            continue
        elif page.meta.get("translated") != other.digest():
            problem = f"{other.display_path} has changed since this page was reviewed; update it"
        else:
            continue
        hint = f"run scripts/translated {name}, or run scripts/translated --pending {name}"
        yield SourceError(page.path, 1, f"{problem} and {hint}")


def notebook_errors() -> Iterator[SourceError]:
    """Notebooks that were saved with outputs, and code that differs between the languages."""
    for page in list_pages(LANGUAGES[0]):
        if page.is_notebook:
            pages = [each for each in (page, page.translation) if each.path.exists()]
            pending = any(each.is_pending for each in pages)
            for each in pages:
                cells = localized_cells(page.path, each.language)
                for line, message in notebooks.notebook_errors(each.path, cells, code_only=pending):
                    yield SourceError(each.path, line, message)
