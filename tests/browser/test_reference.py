"""The pages to look things up in: the glossary on a phone, and Shapes on paper."""

import re

import pytest
from playwright.sync_api import expect


def test_the_glossary_is_read_without_scrolling_sideways(reader, home, width):
    reader.goto(f"{home}glossary/")
    expect(reader.locator(".glossary tr").last).to_be_visible()
    right = reader.locator(".glossary td").evaluate_all(
        "cells => Math.max(...cells.map(cell => cell.getBoundingClientRect().right))"
    )
    assert right <= width


def test_letters_lead_to_the_first_term_of_each(reader, home):
    reader.goto(f"{home}glossary/")
    for letter in ("A", "M", "X"):
        reader.locator(f".letters a:text-is('{letter}')").click()
        row = reader.locator(f"tr:has(#letter-{letter.lower()})")
        expect(row).to_be_in_viewport()
        assert row.inner_text().strip()


def test_a_term_leads_to_the_section_that_treats_it(reader, home):
    reader.goto(f"{home}glossary/")
    reader.locator("tr:has(#causal-mask) .where a").click()
    expect(reader).to_have_url(f"{home}masks/#causal-mask")
    expect(reader.locator("h2#causal-mask")).to_be_visible()


@pytest.mark.parametrize("width", [1280])
def test_the_page_shapes_prints_on_three_sheets_of_a4_at_most(reader, home):
    reader.goto(f"{home}shapes/")
    data = reader.pdf(format="A4")
    sheets = re.findall(rb"/MediaBox\b", data)
    assert 1 <= len(sheets) <= 3, f"{len(sheets)} sheets"


@pytest.mark.parametrize("width", [1280])
def test_nothing_of_the_page_shapes_is_cut_off_on_paper(reader, home):
    reader.goto(f"{home}shapes/")
    reader.emulate_media(media="print")
    reader.set_viewport_size({"width": 711, "height": 1040})  # A4 within its margins
    right = reader.locator(".md-content__inner :is(td, th, p)").evaluate_all(
        "cells => Math.max(...cells.map(cell => cell.getBoundingClientRect().right))"
    )
    assert right <= 712
