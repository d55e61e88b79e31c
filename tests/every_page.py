"""The pages of the site as a browser asks for them."""

import pytest
from playwright.sync_api import Page

import book
from conftest import BASE

PAGES = [
    ("zh/" if page.language == "zh" else "") + page.name.removesuffix(".md").removesuffix("index")
    for language in book.LANGUAGES
    for page in book.pages(language)
]
# For what may differ by the language or by the width, but not by both together.
LANGUAGE_AT = {1280: "en", 390: "zh"}
every_page = pytest.mark.parametrize("url", PAGES, ids=lambda url: url or "home")


def address(url: str) -> str:
    return BASE + (url if url.endswith("/") or not url else f"{url}/")


def open_everything(page: Page) -> None:
    """Unfolds what is folded, and lets everything be drawn."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    page.evaluate("document.fonts.ready")
