"""Search, language switch, code, tooltips and palette: wide in English, narrow in Chinese."""

import re

import pytest
from playwright.sync_api import Page, expect

from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE_URL, wait_until_idle
from built_pages import load_page, page_code_blocks

CHAPTER, NEXT_CHAPTER = "embeddings", "positional-encoding"  # two pages represent all


# Search


def type_search(checked_page: Page, query: str) -> None:
    """Type a query into the search field."""
    if checked_page.viewport_size["width"] < 960:
        checked_page.locator("label.md-header__button[for=__search]").click()
    field = checked_page.locator(".md-search__input")
    field.click()
    field.press_sequentially(query, delay=10)
    field.press("Shift")  # Chinese comes from an input method, and a key ends that


def test_searching_by_typing_finds_the_page_first(checked_page, home_url, language):
    """test_search.py searches for more terms."""
    query, name = {
        "en": ("positional encoding", "positional-encoding"),
        "zh": ("多头注意力", "multi-head-attention"),
    }[language]
    checked_page.goto(home_url)
    type_search(checked_page, query)
    link = checked_page.locator(".md-search-result__link").first
    expect(link).to_have_attribute("href", re.compile(f"^{home_url}{name}/"))
    link.click()
    expect(checked_page.locator(".md-content article")).to_contain_text(query, ignore_case=True)


def test_the_search_index_is_fetched_when_the_search_is_opened(checked_page, home_url):
    requested_urls: list[str] = []
    checked_page.on("request", lambda request: requested_urls.append(request.url))
    checked_page.goto(home_url)
    checked_page.locator(".md-footer__link--next").click()
    expect(checked_page).to_have_url(f"{home_url}overview/")
    wait_until_idle(checked_page)
    assert [url for url in requested_urls if "search_index" in url] == []
    type_search(checked_page, "softmax")
    expect(checked_page.locator(".md-search-result__link").first).to_be_visible()
    assert sum("search_index" in url for url in requested_urls) == 1


def test_an_address_can_contain_a_query(checked_page, home_url):
    checked_page.goto(f"{home_url}?q=softmax")
    expect(checked_page.locator(".md-search-result__link").first).to_be_visible()
    checked_page.goto(f"{home_url}attention/?h=softmax")
    expect(checked_page.locator("article mark:visible").first).to_have_text("softmax")


# The language switch


# The middle of a link, once a click there would hit the link.
MIDDLE_OF_LINK_SCRIPT = """(selector) => {
  const link = document.querySelector(selector);
  const { left, top, width, height } = link.getBoundingClientRect();
  const middle = [left + width / 2, top + height / 2];
  return document.elementFromPoint(...middle) === link && middle;
}"""
# Whether the heading is at the top and has not moved since the last call.
HEADING_IS_STILL_SCRIPT = """(id) => {
  const top = document.getElementById(id).getBoundingClientRect().top;
  const rests = window.lastTop === top && document.fonts.status === "loaded";
  window.lastTop = top;
  return rests && 0 < top && top < 140;
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_switch_leads_to_the_same_page_and_heading_and_back(
    checked_page, home_url, language
):
    def wait_for_heading() -> None:
        wait_until_idle(checked_page)
        checked_page.wait_for_function(HEADING_IS_STILL_SCRIPT, arg="token-embedding", polling=400)

    other = LANGUAGES[1 - LANGUAGES.index(language)]
    translated = BASE_URL + ("zh/" if other == "zh" else "")
    checked_page.goto(f"{home_url}{CHAPTER}/#token-embedding")
    for target, url in ((other, translated), (language, home_url)):
        wait_for_heading()
        # By the mouse alone: a locator's click may scroll.
        checked_page.locator(".md-header .md-select").hover()
        link = f".md-select__link[hreflang={target}]"
        middle = checked_page.wait_for_function(MIDDLE_OF_LINK_SCRIPT, arg=link).json_value()
        checked_page.mouse.click(*middle)
        expect(checked_page).to_have_url(f"{url}{CHAPTER}/#token-embedding")
        expect(checked_page.locator("html")).to_have_attribute("lang", target)
    wait_for_heading()


# The next page


def test_the_next_page_is_complete_and_going_back_restores_the_position(checked_page, home_url):
    checked_page.goto(f"{home_url}{CHAPTER}/")
    checked_page.locator(".md-footer__link--next").click()
    expect(checked_page).to_have_url(f"{home_url}{NEXT_CHAPTER}/")
    checked_page.wait_for_function("() => scrollY === 0")
    formula = checked_page.locator("article .katex:visible").first
    family = formula.evaluate("element => getComputedStyle(element).fontFamily")
    assert "KaTeX_Main" in family, "the style sheet of formulas is not loaded"
    checked_page.evaluate("document.fonts.ready")
    assert checked_page.evaluate("document.fonts.check('16px KaTeX_Main')"), "nor its font"
    assert checked_page.locator("article .figure svg").count() > 0
    checked_page.locator("article pre:visible").first.scroll_into_view_if_needed()
    expect(checked_page.locator("article .md-code__nav").first).to_be_attached()
    checked_page.go_back()
    expect(checked_page).to_have_url(f"{home_url}{CHAPTER}/")
    expect(checked_page.locator(".md-footer__link--next")).to_be_in_viewport()


# Light and dark


@pytest.mark.parametrize(
    ("system", "schemes"), [("light", ["default", "slate"]), ("dark", ["slate", "default"])]
)
def test_the_palette_follows_the_system_then_the_reader(checked_page, home_url, system, schemes):
    checked_page.emulate_media(color_scheme=system)
    checked_page.goto(f"{home_url}{NEXT_CHAPTER}/")
    body = checked_page.locator("body")
    toggle = checked_page.locator("form:has([name=__palette]) label:not([hidden])")
    figure_text = checked_page.locator("article .figure svg text").first
    for expected in schemes:  # the first choice is visible
        expect(body).to_have_attribute("data-md-color-scheme", expected)
        color = figure_text.evaluate("text => getComputedStyle(text).fill")
        assert (sum(map(int, re.findall(r"\d+", color)[:3])) > 384) == (expected == "slate")
        toggle.click()
    expect(body).to_have_attribute("data-md-color-scheme", schemes[0])
    toggle.click()  # follows the system again
    expect(body).to_have_attribute("data-md-color-scheme", schemes[0])
    toggle.click()
    checked_page.reload()
    expect(body).to_have_attribute("data-md-color-scheme", schemes[1])


# Code


@pytest.mark.only_browser("chromium")  # the others don't let a script read the clipboard
def test_a_click_on_the_copy_button_copies_and_shows_a_message(
    checked_page, home_url, language, site
):
    checked_page.goto(f"{home_url}{CHAPTER}/")
    checked_page.locator("article pre:visible").first.scroll_into_view_if_needed()
    checked_page.locator("article .md-code__button[data-clipboard-target]").first.click()
    expect(checked_page.locator(".md-dialog--active")).to_be_visible()
    first = next(page_code_blocks(load_page(site, SourcePage(language, f"{CHAPTER}.md"))))
    assert checked_page.evaluate("navigator.clipboard.readText()") == first.code


def test_a_focused_copy_button_keeps_its_name(checked_page: Page, home_url, language):
    checked_page.goto(f"{home_url}{CHAPTER}/")
    checked_page.locator("article pre:visible").first.scroll_into_view_if_needed()
    button = checked_page.locator("article .md-code__button[data-clipboard-target]").first
    button.focus()
    expect(checked_page.locator(".md-tooltip2--active")).to_be_visible()
    expect(button).to_have_accessible_name({"en": "Copy to clipboard", "zh": "复制"}[language])


# Footnotes and terms


def test_footnotes_and_terms_open_tooltips(checked_page, home_url, width):
    checked_page.goto(f"{home_url}{CHAPTER}/")
    for kind in ("a.footnote-ref", "abbr"):
        place = checked_page.locator(f"article {kind}:visible").first
        place.scroll_into_view_if_needed()
        place.hover()
        expect(checked_page.locator(".md-tooltip2--active")).to_be_visible()
        expect(checked_page.locator(".md-tooltip2--active")).not_to_be_empty()
        checked_page.mouse.move(0, 0)
        expect(checked_page.locator(".md-tooltip2--active")).to_have_count(0)


FOLD_ALL_SCRIPT = """() => {
  document.documentElement.classList.add("notes-folded");
  for (const block of document.querySelectorAll("article details")) block.open = false;
}"""


def test_a_footnotes_arrow_leads_to_its_mark_even_in_a_folded_note_or_block(checked_page, home_url):
    for name in ("encoder-decoder", "multi-head-attention", "reproducibility", "sublayers"):
        checked_page.goto(f"{home_url}{name}/")
        for arrow in checked_page.locator(".footnote-backref").all():
            checked_page.evaluate(FOLD_ALL_SCRIPT)
            arrow.evaluate("arrow => arrow.click()")
            mark = str(arrow.get_attribute("href")).removeprefix("#")
            expect(checked_page.locator(f"[id='{mark}']")).to_be_in_viewport()


@pytest.mark.browser_context_args(has_touch=True)
@pytest.mark.parametrize("width", [390])
def test_the_keyboard_can_scroll_each_block_of_code_that_is_wider_than_the_page(
    checked_page, home_url
):
    checked_page.goto(f"{home_url}reproducibility/")
    blocks = checked_page.locator(".md-content .highlight > pre > code")
    for block in blocks.all():
        block.scroll_into_view_if_needed()
    expect(blocks.last).to_be_in_viewport()
    wait_until_idle(checked_page)
    wide = "each => each.scrollWidth > each.clientWidth"
    found = blocks.evaluate_all(f"blocks => blocks.filter({wide}).map(each => each.tabIndex)")
    assert {*found} == {0}
