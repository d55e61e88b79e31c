"""The reference pages: the glossary, the page Shapes on paper, and the map of the overview."""

import re

import pytest
from playwright.sync_api import expect

from bookbuild.pages.page import page_url
from bookbuild.pages.paths import LANGUAGES

RIGHT_EDGE_SCRIPT = "all => Math.max(...all.map(each => each.getBoundingClientRect().right))"


def test_the_glossary_fits_and_leads_to_the_sections_that_treat_its_terms(
    checked_page, home_url, width
):
    checked_page.goto(f"{home_url}glossary/")
    expect(checked_page.locator(".glossary tr").last).to_be_visible()
    assert checked_page.locator(".glossary td").evaluate_all(RIGHT_EDGE_SCRIPT) <= width
    checked_page.locator(".letters a:text-is('M')").click()
    expect(checked_page.locator("tr:has(#letter-m)")).to_be_in_viewport()
    checked_page.locator("tr:has(#causal-mask) .where a").click()
    expect(checked_page).to_have_url(f"{home_url}masks/#causal-mask")


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_shapes_prints_whole_on_three_sheets_of_a4_at_most(checked_page, home_url):
    checked_page.goto(f"{home_url}shapes/")
    assert 1 <= len(re.findall(rb"/MediaBox\b", checked_page.pdf(format="A4"))) <= 3
    checked_page.emulate_media(media="print")
    checked_page.set_viewport_size({"width": 711, "height": 1040})  # A4 within its margins
    cells = checked_page.locator(".md-content__inner :is(td, th, p)")
    assert cells.evaluate_all(RIGHT_EDGE_SCRIPT) <= 712


def test_every_box_of_the_map_leads_to_its_chapter(checked_page, home_url, width):
    checked_page.goto(f"{home_url}overview/")
    links = checked_page.locator(".figure svg[role=group]").get_by_role("link")
    assert links.count() > 20
    for link in links.all():
        box = link.bounding_box()
        assert link.text_content().strip()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    links.nth(1).press("Enter")
    expect(checked_page).to_have_url(home_url + page_url("embeddings.md"))
