"""A number names the file that computed it: by mouse, by keyboard and by tap."""

import pytest
from playwright.sync_api import Locator, Page, expect

from bookbuild.mkdocs_site.formulas import ARITHMETIC_TEST

SOURCE = {"en": "Source: ", "zh": "来源："}
CHECKED = {"en": "By hand, checked by ", "zh": "手算，由测试验证："}
EXAMPLE = "snippets/examples/decoding/beam_here.py"


def first_number(page: Page, file: str) -> Locator:
    """The first number from this file, once the whole page is rendered and keeps its place."""
    expect(page.locator("html.first-view")).to_have_count(0)
    return page.locator(f'article a.number[href$="/{file}"]').first


@pytest.mark.parametrize(("words", "file"), [(SOURCE, EXAMPLE), (CHECKED, ARITHMETIC_TEST)])
def test_a_number_names_its_source_by_mouse_and_by_keyboard(
    checked_page, home_url, language, words, file
):
    checked_page.goto(f"{home_url}decoding/")
    number, tooltip = first_number(checked_page, file), checked_page.locator(".md-tooltip2--active")
    expect(number).to_have_accessible_description(words[language] + file)
    parts = number.locator(".katex-base")  # a formula can be on two lines
    (parts.first if parts.count() else number).hover()
    expect(tooltip).to_have_text(words[language] + file)
    checked_page.mouse.move(0, 0)
    expect(tooltip).to_have_count(0)
    checked_page.keyboard.press("Shift")  # focus is visible only after a key
    number.focus()
    expect(tooltip).to_have_text(words[language] + file)
    expect(number).to_have_css("outline-style", "solid")


@pytest.mark.browser_context_args(has_touch=True)
@pytest.mark.parametrize("width", [390])
def test_the_first_tap_names_the_source_and_the_second_opens_it(page: Page, home_url, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{home_url}decoding/")
    number, tooltip = first_number(page, EXAMPLE), page.locator(".md-tooltip2--active")
    number.tap()
    expect(tooltip).to_contain_text(EXAMPLE)
    box = tooltip.locator(".md-tooltip2__inner").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    expect(page).to_have_url(f"{home_url}decoding/")
    href = str(number.get_attribute("href"))
    page.route(f"{href}*", lambda route: route.fulfill(body="the file"))
    number.tap()
    page.wait_for_url(href)


def test_the_tab_key_stops_once_at_each_source_of_a_table(checked_page, home_url):
    checked_page.goto(f"{home_url}variants/")
    for table in checked_page.locator("article table:has(a.number)").all():
        links = table.locator("a.number")
        hrefs = links.evaluate_all("links => links.map((link) => link.href)")
        stops = links.evaluate_all("links => links.filter((x) => !x.tabIndex).map((x) => x.href)")
        assert sorted(stops) == sorted(set(hrefs))


def test_without_javascript_a_number_is_a_link_in_the_color_of_text(no_javascript_page, home_url):
    no_javascript_page.goto(f"{home_url}decoding/")
    number = first_number(no_javascript_page, EXAMPLE)
    color = number.locator("..").evaluate("each => getComputedStyle(each).color")
    expect(number).to_have_css("color", color)
    number.hover()
    expect(number).not_to_have_css("color", color)
