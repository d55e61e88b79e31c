"""A single page on paper: what belongs to a screen is gone, and what is folded is open."""

import pytest
from playwright.sync_api import expect

from browser_pages import BASE

pytestmark = pytest.mark.parametrize("width", [1280])
A4 = 680  # CSS pixels between its margins
SCREEN_ONLY = ".md-header, .md-sidebar, .md-footer, .md-content__button, .md-code__nav, .headerlink"


@pytest.fixture
def paper(reader):
    """A browser's page that shows what it would print, opened by a reader of the dark scheme."""

    def open(url: str):
        reader.emulate_media(media="screen", color_scheme="dark")
        reader.goto(BASE + url)
        expect(reader.locator("h1")).to_be_visible()
        reader.emulate_media(media="print", color_scheme="dark")
        reader.set_viewport_size({"width": A4, "height": 1000})
        return reader

    return open


@pytest.mark.parametrize("url", ["attention/", "zh/masks/", "labs/look-inside/", ""])
def test_nothing_of_the_screen_is_printed(paper, url):
    page = paper(url)
    shown = page.locator(SCREEN_ONLY).evaluate_all(
        "all => all.filter(each => each.checkVisibility()).map(each => each.className)"
    )
    assert shown == []


@pytest.mark.parametrize("url", ["attention/", "zh/proofs/"])
def test_what_is_folded_is_printed_open(paper, url):
    page = paper(url)
    folded = page.locator("details:not([open]) > :not(summary)")
    assert folded.count() > 20
    hidden = folded.evaluate_all(
        "all => all.filter(each => !each.checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert hidden == 0
    assert folded.first.bounding_box()["height"] > 0


@pytest.mark.parametrize("url", ["attention/", "zh/learned/", "pitfalls/", "zh/glossary/"])
def test_nothing_is_cut_off_at_the_edge_of_the_paper(paper, url):
    page = paper(url)
    wide = page.locator("article :is(p, pre, code, td, svg, li)").evaluate_all(
        f"""all => all
            .filter(each => each.checkVisibility() && !each.closest(".katex"))
            .filter(each => each.getBoundingClientRect().right > {A4} + 1
                || (each.matches("pre") && each.scrollWidth > each.clientWidth + 1))
            .map(each => each.tagName + ": " + each.textContent.slice(0, 60))"""
    )
    assert wide == []


def test_the_paper_is_light_in_the_dark_scheme_too(paper):
    page = paper("attention/")
    ink = page.locator("h1").evaluate("each => getComputedStyle(each).color")
    assert ink == "rgb(31, 36, 48)"


@pytest.mark.parametrize("url", ["", "attention/", "masks/", "rotations/", "learned/"])
def test_a_widget_is_printed_as_its_picture_without_its_controls(paper, url):
    widget = paper(url).locator(".widget").first
    shown = widget.locator("button, select, form, input[type=range]").evaluate_all(
        "all => all.filter(each => each.checkVisibility()).length"
    )
    assert shown == 0
    assert widget.locator("svg:visible, table:visible").count() > 0


def test_a_footnotes_link_is_printed_with_its_address_unless_it_says_it(paper):
    page = paper("attention/")
    after = "each => getComputedStyle(each, '::after').content"
    output = page.locator(".footnote a[href*='transformer-circuits.pub']").evaluate(after)
    assert "transformer-circuits.pub" in output
    assert page.locator(".footnote a[href*='arxiv.org']").first.evaluate(after) == "none"
