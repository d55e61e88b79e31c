"""A printed page: screen-only elements are hidden, and folded blocks are open."""

import pytest
from playwright.sync_api import expect

from browser_pages import BASE_URL

pytestmark = pytest.mark.parametrize("width", [1280])
A4_WIDTH = 680  # CSS pixels between its margins
SCREEN_ONLY_SELECTOR = (
    ".md-header, .md-sidebar, .md-footer, .md-content__button, .md-code__nav, .headerlink"
)


@pytest.fixture
def open_for_print(checked_page):
    """A function that opens a page in the dark scheme and emulates printing."""

    def open(url: str):
        checked_page.emulate_media(media="screen", color_scheme="dark")
        checked_page.goto(BASE_URL + url)
        expect(checked_page.locator("h1")).to_be_visible()
        checked_page.emulate_media(media="print", color_scheme="dark")
        checked_page.set_viewport_size({"width": A4_WIDTH, "height": 1000})
        return checked_page

    return open


@pytest.mark.parametrize("url", ["attention/", "zh/masks/", "labs/look-inside/"])
def test_only_content_is_printed_in_light_colors_with_open_blocks(open_for_print, url):
    page = open_for_print(url)
    expect(page.locator(SCREEN_ONLY_SELECTOR).locator("visible=true")).to_have_count(0)
    expect(page.locator("h1")).to_have_css("color", "rgb(31, 36, 48)")
    page.wait_for_function(
        """() => [...document.querySelectorAll("details:not([open]) > :not(summary, .page-files)")]
            .every(each => each.checkVisibility({contentVisibilityAuto: true}))"""
    )


@pytest.mark.parametrize("url", ["attention/", "zh/learned/", "zh/glossary/", "claims-training/"])
def test_nothing_is_cut_off_at_the_edge_of_the_paper(open_for_print, url):
    page = open_for_print(url)
    overflowing = page.locator("article :is(p, pre, code, td, svg, li)").evaluate_all(
        f"""all => all
            .filter(each => each.checkVisibility() && !each.closest(".katex"))
            .filter(each => each.getBoundingClientRect().right > {A4_WIDTH} + 1
                || (each.matches("pre") && each.scrollWidth > each.clientWidth + 1))
            .map(each => each.tagName + ": " + each.textContent.slice(0, 60))"""
    )
    assert overflowing == []


@pytest.mark.parametrize("url", ["", "attention/", "mask-conventions/", "rotations/", "learned/"])
def test_a_widget_is_printed_as_its_picture_without_its_controls(open_for_print, url):
    widget = open_for_print(url).locator(".widget").first
    expect(widget.locator(":is(button, select, form, [type=range]):visible")).to_have_count(0)
    expect(widget.locator("svg:visible, table:visible")).not_to_have_count(0)


def test_a_footnotes_link_is_printed_with_its_address_unless_its_text_has_it(open_for_print):
    page = open_for_print("attention-in-practice/")
    after = "each => getComputedStyle(each, '::after').content"
    output = page.locator(".footnote a[href*='transformer-circuits.pub']").evaluate(after)
    assert "transformer-circuits.pub" in output
    assert page.locator(".footnote a[href*='arxiv.org']").first.evaluate(after) == "none"
