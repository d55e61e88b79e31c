"""Fixtures of all tests in the browser: wide in English, narrow in Chinese."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from browser_pages import LANGUAGE_BY_WIDTH, PAGE_BY_WIDGET, unfold


@pytest.fixture
def language(width: int) -> str:
    """The language; a test that depends on both has a parameter of its own."""
    return LANGUAGE_BY_WIDTH[width]


@pytest.fixture
def open_widget(checked_page: Page, home_url: str) -> Callable[[str], Locator]:
    """Opens the page of a widget that replaces a picture, and waits until it is live."""

    def open(name: str) -> Locator:
        checked_page.goto(home_url + PAGE_BY_WIDGET[name])
        widget = checked_page.locator(f"[data-widget={name}]")
        widget.scroll_into_view_if_needed()
        expect(widget.locator(".live")).to_be_visible()
        unfold(widget)
        return widget

    return open
