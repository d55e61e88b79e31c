"""The reference pages: the glossary on a phone, and the page Shapes in print."""

import re

import pytest
from playwright.sync_api import expect


def test_the_glossary_is_read_without_scrolling_sideways(checked_page, home_url, width):
    checked_page.goto(f"{home_url}glossary/")
    expect(checked_page.locator(".glossary tr").last).to_be_visible()
    right = checked_page.locator(".glossary td").evaluate_all(
        "cells => Math.max(...cells.map(cell => cell.getBoundingClientRect().right))"
    )
    assert right <= width


def test_letters_lead_to_the_first_term_of_each(checked_page, home_url):
    checked_page.goto(f"{home_url}glossary/")
    for letter in ("A", "M", "X"):
        checked_page.locator(f".letters a:text-is('{letter}')").click()
        row = checked_page.locator(f"tr:has(#letter-{letter.lower()})")
        expect(row).to_be_in_viewport()
        assert row.inner_text().strip()


def test_a_term_leads_to_the_section_that_treats_it(checked_page, home_url):
    checked_page.goto(f"{home_url}glossary/")
    checked_page.locator("tr:has(#causal-mask) .where a").click()
    expect(checked_page).to_have_url(f"{home_url}masks/#causal-mask")
    expect(checked_page.locator("h2#causal-mask")).to_be_visible()


@pytest.mark.parametrize("width", [1280])
def test_the_page_shapes_prints_on_three_sheets_of_a4_at_most(checked_page, home_url):
    checked_page.goto(f"{home_url}shapes/")
    data = checked_page.pdf(format="A4")
    sheets = re.findall(rb"/MediaBox\b", data)
    assert 1 <= len(sheets) <= 3, f"{len(sheets)} sheets"


@pytest.mark.parametrize("width", [1280])
def test_nothing_of_the_page_shapes_is_cut_off_on_paper(checked_page, home_url):
    checked_page.goto(f"{home_url}shapes/")
    checked_page.emulate_media(media="print")
    checked_page.set_viewport_size({"width": 711, "height": 1040})  # A4 within its margins
    right = checked_page.locator(".md-content__inner :is(td, th, p)").evaluate_all(
        "cells => Math.max(...cells.map(cell => cell.getBoundingClientRect().right))"
    )
    assert right <= 712
