"""The map of the overview: a figure whose boxes are links."""

import pytest
from playwright.sync_api import Locator, Page, expect

from bookbuild.pages.page import page_url
from browser_pages import LANGUAGE_BY_WIDTH

MIN_TEXT_SIZE = 11  # pixels


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_BY_WIDTH[width]


@pytest.fixture
def links(checked_page: Page, home_url: str) -> Locator:
    checked_page.goto(f"{home_url}overview/")
    return checked_page.locator(".figure svg[role=group]").get_by_role("link")


def test_every_box_of_the_map_has_a_name_and_is_in_the_window(links, width):
    assert links.count() > 20
    for link in links.all():
        box = link.bounding_box()
        assert link.text_content().strip()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_the_keyboard_opens_the_chapter_of_a_box(links, checked_page, home_url):
    links.first.focus()
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("Enter")
    expect(checked_page).to_have_url(home_url + page_url("embeddings.md"))


def test_texts_of_the_overview_are_large_enough(links, checked_page):
    sizes = checked_page.locator(".figure svg text").evaluate_all(
        """(texts) => texts.map((text) => {
          const svg = text.ownerSVGElement;
          const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
          return scale * parseFloat(getComputedStyle(text).fontSize);
        })"""
    )
    assert min(sizes) >= MIN_TEXT_SIZE
