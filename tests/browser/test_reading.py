"""What a reader does with the pages, in a real browser, wide and narrow, in both languages."""

import re

import pytest
from playwright.sync_api import Page, expect

from bookbuild.check.translation import find_parts
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE, open_everything, settle
from built_pages import blocks_of, load_page

CHAPTERS = ["embeddings", "positional-encoding"]  # what goes for two goes for all


def anchors(language: str, name: str) -> list[str]:
    """The anchors of a page's headings."""
    headings = find_parts("heading", SourcePage(language, f"{name}.md").text)
    return [part.value.split("#")[-1] for part in headings if "# #" in part.value]


# Search


def search(reader: Page, query: str) -> None:
    """Types a query as a reader does."""
    if reader.viewport_size["width"] < 960:
        reader.locator("label.md-header__button[for=__search]").click()
    field = reader.locator(".md-search__input")
    field.click()
    field.press_sequentially(query, delay=10)
    field.press("Shift")  # Chinese comes from an input method, and a key ends that


@pytest.mark.parametrize(
    ("language", "query", "name"),
    [
        ("en", "positional encoding", "positional-encoding"),
        ("en", "embedding", "embeddings"),
        ("zh", "位置编码", "positional-encoding"),
        ("zh", "词嵌入", "embeddings"),
        ("zh", "多头注意力", "attention"),
        ("en", "causal mask", "masks"),
        ("zh", "层归一化", "layer-norm"),
    ],
)
def test_searching_by_typing_finds_the_page_first(reader, home, language, query, name):
    reader.goto(home)
    search(reader, query)
    link = reader.locator(".md-search-result__link").first
    expect(link).to_have_attribute("href", re.compile(f"^{home}{name}/"))
    link.click()
    expect(reader).to_have_url(re.compile(f"^{home}{name}/"))
    expect(reader.locator(".md-content article")).to_contain_text(query, ignore_case=True)


def test_what_searches_is_fetched_when_the_search_is_opened(reader, home):
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(home)
    reader.locator(".md-footer__link--next").click()
    expect(reader).to_have_url(f"{home}{CHAPTERS[0]}/")
    settle(reader)
    assert [url for url in asked if "search" in url] == []
    search(reader, "softmax")
    expect(reader.locator(".md-search-result__link").first).to_be_visible()
    assert sum("search_index" in url for url in asked) == 1
    assert sum("workers/search" in url for url in asked) == 1


def test_an_address_can_hold_a_query(reader, home):
    reader.goto(f"{home}?q=softmax")
    expect(reader.locator(".md-search-result__link").first).to_be_visible()
    reader.goto(f"{home}{CHAPTERS[0]}/?h=softmax")
    expect(reader.locator("article mark:visible").first).to_have_text("softmax")


def test_searching_for_what_is_not_there_finds_nothing(reader, home):
    reader.goto(home)
    search(reader, "qwrtzx")
    expect(reader.locator(".md-search-result__meta")).to_have_text(
        re.compile("No matching documents|没有找到")
    )


# The language switch


# The middle of a link, as soon as the mouse would hit it there.
MIDDLE_OF_LINK = """(selector) => {
  const link = document.querySelector(selector);
  const { left, top, width, height } = link.getBoundingClientRect();
  const middle = [left + width / 2, top + height / 2];
  return document.elementFromPoint(...middle) === link && middle;
}"""


def switch_language(reader: Page, language: str) -> None:
    """Chooses the language in the header, by the mouse alone: a locator's click may scroll."""
    reader.wait_for_load_state()
    reader.locator(".md-header .md-select").hover()
    link = f".md-select__link[hreflang={language}]"
    reader.mouse.click(*reader.wait_for_function(MIDDLE_OF_LINK, arg=link).json_value())


# At the top, and where it was when last asked.
HEADING_IS_STILL = """(id) => {
  const top = document.getElementById(id).getBoundingClientRect().top;
  const rests = window.lastTop === top && document.fonts.status === "loaded";
  window.lastTop = top;
  return rests && 0 < top && top < 140;
}"""


def wait_until_heading_is_still(reader: Page, anchor: str) -> None:
    """Waits until the heading is at the top and nothing that is still loading moves it."""
    settle(reader)
    reader.wait_for_function(HEADING_IS_STILL, arg=anchor, polling=400)


def test_the_language_switch_leads_to_the_same_page_and_heading_and_back(
    reader, home, language, width
):
    name = CHAPTERS[width < 500]  # one at each width
    other = LANGUAGES[1 - LANGUAGES.index(language)]
    translated = BASE + ("zh/" if other == "zh" else "")
    reader.goto(f"{home}{name}/")
    switch_language(reader, other)
    expect(reader).to_have_url(f"{translated}{name}/")
    expect(reader.locator("html")).to_have_attribute("lang", other)

    middle = anchors(language, name)[len(anchors(language, name)) // 2]
    reader.goto(f"{home}{name}/#{middle}")
    wait_until_heading_is_still(reader, middle)
    switch_language(reader, other)
    expect(reader).to_have_url(f"{translated}{name}/#{middle}")
    wait_until_heading_is_still(reader, middle)
    switch_language(reader, language)
    expect(reader).to_have_url(f"{home}{name}/#{middle}")


# The next page


def test_the_next_page_is_complete_and_the_way_back_leads_where_one_was(reader, home):
    reader.goto(f"{home}{CHAPTERS[0]}/")
    reader.locator(".md-footer__link--next").click()
    expect(reader).to_have_url(f"{home}{CHAPTERS[1]}/")
    reader.wait_for_function("() => scrollY === 0")
    formula = reader.locator("article .katex:visible").first
    expect(formula).to_be_visible()
    family = formula.evaluate("element => getComputedStyle(element).fontFamily")
    assert "KaTeX_Main" in family, "its style sheet is there"
    reader.evaluate("document.fonts.ready")
    assert reader.evaluate("document.fonts.check('16px KaTeX_Main')"), "its font is there"
    hidden = reader.locator("article .katex-mathml").first.bounding_box()
    assert hidden is None or hidden["width"] <= 1, "MathML is for screen readers"
    assert reader.locator("article .figure svg").count() > 0
    reader.locator("article pre").first.scroll_into_view_if_needed()
    expect(reader.locator("article .md-code__nav").first).to_be_attached()
    reader.go_back()
    expect(reader).to_have_url(f"{home}{CHAPTERS[0]}/")
    expect(reader.locator(".md-footer__link--next")).to_be_in_viewport()


# Light and dark


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_palette_follows_the_system_then_the_reader(reader, home, system):
    schemes = {"light": "default", "dark": "slate"}
    reader.emulate_media(color_scheme=system)
    reader.goto(home)
    body = reader.locator("body")
    toggle = reader.locator("form:has([name=__palette]) label:not([hidden])")
    for expected in (schemes[system], "default", "slate", schemes[system], "default", "slate"):
        expect(body).to_have_attribute("data-md-color-scheme", expected)
        toggle.click()
    toggle.click()
    reader.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "default")


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("system", ["light", "dark"])
def test_figures_take_the_colors_of_the_scheme(reader, home, system):
    reader.emulate_media(color_scheme=system)
    reader.goto(f"{home}{CHAPTERS[1]}/")
    text = reader.locator("article .figure svg text").first
    colours = text.evaluate(
        "element => [getComputedStyle(element).fill, getComputedStyle(document.body).color]"
    )
    assert colours[0] != "rgb(0, 0, 0)"
    lightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours]
    assert (lightness[0] > 384) == (system == "dark")


# Code


# Waits until something is on the clipboard, takes it off, and returns it.
TAKE_FROM_CLIPBOARD = """async () => {
  let text = "";
  for (let tries = 0; !text && tries < 200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    text = await navigator.clipboard.readText();
  }
  await navigator.clipboard.writeText("");
  return text;
}"""


# The dialog is there for two seconds.
RECORD_DIALOG = """() => new MutationObserver(() => {
  window.dialog ||= document.querySelector(".md-dialog--active");
}).observe(document.querySelector(".md-dialog"), { attributes: true })"""


def test_a_click_on_the_copy_button_copies_and_reports_it(reader, home, language, site):
    reader.goto(f"{home}{CHAPTERS[0]}/")
    reader.locator("article pre").first.scroll_into_view_if_needed()
    reader.evaluate(RECORD_DIALOG)
    reader.locator("article .md-code__button[data-clipboard-target]").first.click()
    reader.wait_for_function("() => window.dialog")
    first = next(blocks_of(load_page(site, SourcePage(language, f"{CHAPTERS[0]}.md"))))
    assert reader.evaluate(TAKE_FROM_CLIPBOARD) == first.code


def test_a_focused_copy_button_keeps_its_name(reader: Page, home, language):
    reader.goto(f"{home}{CHAPTERS[0]}/")
    reader.locator("article pre").first.scroll_into_view_if_needed()
    button = reader.locator("article .md-code__button[data-clipboard-target]").first
    button.focus()
    expect(reader.locator(".md-tooltip2--active")).to_be_visible()
    expect(button).to_have_accessible_name({"en": "Copy to clipboard", "zh": "复制"}[language])


def test_notes_on_lines_of_code_open(reader, home, width):
    name = CHAPTERS[width < 500]  # one at each width
    reader.goto(f"{home}{name}/")
    open_everything(reader)
    source = SourcePage("en", f"{name}.md").text
    notes = reader.locator("article pre .md-annotation__index")
    expect(notes).to_have_count(len(find_parts("note on a line", source)))
    for number in (0, notes.count() // 2, notes.count() - 1):
        notes.nth(number).click(force=True)  # it pulses, so it never is still
        expect(reader.locator(".md-tooltip--active .md-tooltip__inner")).not_to_be_empty()
        reader.evaluate("document.activeElement.blur()")
        expect(reader.locator(".md-tooltip--active")).to_have_count(0)


# Footnotes and terms


def test_footnotes_and_terms_open_tooltips(reader, home, width):
    reader.goto(f"{home}{CHAPTERS[0]}/")
    for kind in ("a.footnote-ref", "abbr"):
        place = reader.locator(f"article {kind}:visible").first
        place.scroll_into_view_if_needed()
        place.hover()
        expect(reader.locator(".md-tooltip2--active")).to_be_visible()
        expect(reader.locator(".md-tooltip2--active")).not_to_be_empty()
        reader.mouse.move(0, 0)
        expect(reader.locator(".md-tooltip2--active")).to_have_count(0)
