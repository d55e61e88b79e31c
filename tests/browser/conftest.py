"""Fixtures of all tests in the browser: wide in English, narrow in Chinese."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from browser_pages import LANGUAGE_BY_WIDTH, TIMEOUT_MS, WIDGETS


@pytest.fixture
def language(width: int) -> str:
    """The language; a test that depends on both has a parameter of its own."""
    return LANGUAGE_BY_WIDTH[width]


@pytest.fixture
def no_javascript_page(browser: Browser, width: int) -> Iterator[Page]:
    viewport = {"width": width, "height": 844}
    with browser.new_context(java_script_enabled=False, viewport=viewport) as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context.new_page()


@pytest.fixture
def open_widget(checked_page: Page, home_url: str) -> Callable[[str], Locator]:
    """Opens the page of a widget, waits until it has started, and unfolds it."""

    def open(name: str) -> Locator:
        url, started = WIDGETS[name]
        checked_page.goto(home_url + url)
        widget = checked_page.locator(f"[data-widget={name}]")
        widget.scroll_into_view_if_needed()
        expect(widget.locator(started)).to_be_visible()
        for summary in widget.locator("details.live > summary").all():
            summary.click()
        return widget

    return open


@pytest.fixture
def widget(request: pytest.FixtureRequest, open_widget) -> Locator:
    """The widget that the file tests, which it names WIDGET."""
    return open_widget(request.module.WIDGET)
