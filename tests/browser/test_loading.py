"""The layout does not shift while a page loads, nor when the browser renders the rest of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from benchmarks.page import MAX_LAYOUT_SHIFT, SAMPLE_PAGES
from bookbuild.pages.paths import LANGUAGES
from browser_pages import RECORD_SHIFTS_SCRIPT, SiteServer, wait_until_idle


@pytest.fixture
def slow_connection(site_server: SiteServer) -> Iterator[None]:
    """A slow server, since Chromium's own throttling sometimes never delivers a file."""
    site_server.is_slow = True
    yield
    site_server.is_slow = False


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SAMPLE_PAGES, ids=lambda name: name or "home")
@pytest.mark.usefixtures("slow_connection")
def test_loading_a_page_shifts_no_layout(checked_page, home_url, name):
    checked_page.add_init_script(RECORD_SHIFTS_SCRIPT)
    checked_page.goto(home_url + name)
    wait_until_idle(checked_page)
    assert checked_page.evaluate("window.shift") <= MAX_LAYOUT_SHIFT


# Counts the tables that scripts insert or move after the page was parsed.
COUNT_MOVED_TABLES_SCRIPT = """
window.movedTables = 0;
addEventListener("DOMContentLoaded", () => new MutationObserver((records) => {
  for (const { addedNodes } of records) {
    for (const node of addedNodes) movedTables += node instanceof HTMLTableElement;
  }
}).observe(document.querySelector("article"), { childList: true, subtree: true }));
"""


@pytest.mark.parametrize("width", [390])
def test_no_script_wraps_a_table(checked_page: Page, home_url):
    checked_page.add_init_script(COUNT_MOVED_TABLES_SCRIPT)
    checked_page.goto(f"{home_url}masks/")
    wait_until_idle(checked_page)
    checked_page.wait_for_timeout(500)  # Material's script wraps tables in tasks of their own
    tables = checked_page.locator("article table:not([class])")
    assert tables.count() == checked_page.locator(".md-typeset__table > table").count() >= 2
    assert checked_page.evaluate("movedTables") == 0


# The height of each block while it is not rendered, minus its height when it is.
HEIGHT_DIFFERENCES_SCRIPT = """(all) => all
  .filter((code) => !code.closest("details"))
  .map((code) => {
    const heights = ["hidden", "visible"].map((shown) => {
      code.style.contentVisibility = shown;
      code.style.overflowX = "hidden"; // without a scroll bar
      return code.getBoundingClientRect().height;
    });
    return heights[0] - heights[1];
  })"""


@pytest.mark.parametrize("name", ["labs/attention-by-hand", "data", "attention"])
def test_unrendered_code_reserves_its_exact_height(checked_page: Page, home_url, name):
    checked_page.goto(f"{home_url}{name}/")
    blocks = checked_page.locator(".highlight > pre > code[style]")
    differences = blocks.evaluate_all(HEIGHT_DIFFERENCES_SCRIPT)
    assert differences and max(map(abs, differences)) < 1, differences


@pytest.mark.parametrize("name", ["attention", "rotations"])
def test_a_link_within_the_page_leads_to_its_heading_at_once(checked_page: Page, home_url, name):
    checked_page.goto(f"{home_url}{name}/")
    wait_until_idle(checked_page)
    checked_page.evaluate("location.hash = 'exercises'")
    heading = checked_page.locator("#exercises")
    tops = []
    for _ in range(3):
        tops.append(heading.bounding_box()["y"])
        checked_page.wait_for_timeout(200)
    assert 0 < tops[0] < 140 and max(tops) - min(tops) < 1, tops
