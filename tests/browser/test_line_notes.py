"""Notes on lines of code: beside the code on a wide screen, below it on a phone."""

import re

import pytest
from playwright.sync_api import Page, expect

from bookbuild.mkdocs_site.line_notes import FENCE
from bookbuild.pages.page import SourcePage, list_pages
from browser_pages import RECORD_SHIFTS_SCRIPT, expand_page, wait_until_idle
from page_parts import find_parts

PAGES = [page.name for page in list_pages("en") if FENCE.search(page.text)]
NOTE_SELECTOR, LINE_SELECTOR = ".line-note", ".noted"

# Of each listing with notes: whether its notes are beside it, below it, or neither; the problems.
FIND_NOTES_SCRIPT = """() => [...document.querySelectorAll(".annotated")].map((block) => {
  const code = block.querySelector("pre").getBoundingClientRect();
  const notes = [...block.querySelectorAll(":scope > ol > li > .line-note")];
  const boxes = notes.map((note) => note.getBoundingClientRect());
  const isBeside = boxes.every((box) => box.left >= code.right && box.top >= code.top - 10);
  const isBelow = boxes.every((box) => box.top >= code.bottom);
  const visible = { opacityProperty: true, visibilityProperty: true };
  const isCovered = (box) => {
    scrollTo({ top: scrollY + box.top - 300, behavior: "instant" });
    const y = 300 + Math.min(box.height / 2, 200);
    return !document.elementFromPoint(box.left + box.width / 2, y)?.closest(".line-note");
  };
  const problems = notes.filter((note, i) =>
    !note.checkVisibility(visible)
    || boxes[i].right > document.documentElement.clientWidth
    || boxes[i].top < (boxes[i - 1]?.bottom ?? 0) - 1
    || note.scrollWidth > note.clientWidth
    || parseFloat(getComputedStyle(note).fontSize) < 12
    || document.querySelectorAll(`.noted > [href="#${note.id}"]`).length !== 1
    || isCovered(note.getBoundingClientRect()));
  return {
    place: isBeside ? "beside" : isBelow ? "below" : "elsewhere",
    count: notes.length,
    problems: problems.map((note) => note.textContent),
  };
})"""


@pytest.mark.parametrize("name", PAGES)
def test_all_notes_are_in_sight_without_a_click(checked_page: Page, home_url, width, name):
    checked_page.goto(home_url + name.removesuffix(".md") + "/")
    expand_page(checked_page)
    listings = checked_page.evaluate(FIND_NOTES_SCRIPT)
    assert {each["place"] for each in listings} == {"beside" if width >= 1220 else "below"}
    assert [each for listing in listings for each in listing["problems"]] == []
    count = sum(each["count"] for each in listings)
    assert count == len(find_parts("note on a line", SourcePage("en", name).text)) > 0


def test_the_pointer_and_the_focus_highlight_a_line_and_its_note(checked_page: Page, home_url):
    checked_page.goto(f"{home_url}attention/")
    expand_page(checked_page)
    line, note = (checked_page.locator(each).nth(2) for each in (LINE_SELECTOR, NOTE_SELECTOR))
    highlighted = checked_page.locator(".paired")
    plain = note.evaluate("(note) => getComputedStyle(note).backgroundColor")
    for act in (line.hover, note.hover, line.locator(".note-link").focus):
        act()
        expect(highlighted).to_have_count(2)
        expect(highlighted.last).to_have_id("note-1-3")
        expect(highlighted.last).not_to_have_css("background-color", plain)
    checked_page.locator("h1").hover()
    expect(checked_page.locator(".paired")).to_have_count(0)


def test_a_number_is_named_and_leads_to_its_note(checked_page: Page, home_url, language, width):
    checked_page.goto(f"{home_url}attention/")
    expand_page(checked_page)
    link = checked_page.locator(".note-link").nth(2)
    expect(link).to_have_accessible_name({"en": "Note 3", "zh": "行注 3"}[language])
    link.focus()
    link.press("Enter")
    note = checked_page.locator(NOTE_SELECTOR).nth(2)
    expect(note).to_be_in_viewport(ratio=1)
    if width >= 1220:
        expect(checked_page).to_have_url(f"{home_url}attention/")  # it was in sight
        expect(link).to_be_in_viewport()


def test_one_control_folds_all_notes_and_is_remembered(checked_page: Page, home_url, language):
    checked_page.goto(f"{home_url}encoder-decoder/")
    expand_page(checked_page)
    notes = checked_page.locator(f"{NOTE_SELECTOR}:visible")
    buttons = checked_page.locator(".notes-button")
    button = buttons.last
    expect(button).to_have_accessible_name({"en": "Notes", "zh": "行注"}[language])
    button.focus()
    top = button.bounding_box()["y"]
    button.press("Enter")
    expect(notes).to_have_count(0)
    assert button.bounding_box()["y"] == pytest.approx(top, abs=2)
    assert {each.get_attribute("aria-expanded") for each in buttons.all()} == {"false"}
    checked_page.goto(f"{home_url}masks/")
    expect(notes).to_have_count(0)
    checked_page.locator(".note-link").first.click()
    expect(notes).not_to_have_count(0)
    expect(buttons.first).to_have_attribute("aria-expanded", "true")


@pytest.mark.parametrize("folded", [False, True], ids=["shown", "folded"])
def test_notes_move_nothing_while_a_page_loads(checked_page: Page, home_url, folded):
    checked_page.add_init_script(RECORD_SHIFTS_SCRIPT)
    checked_page.goto(f"{home_url}masks/")
    if folded:
        checked_page.locator(".notes-button").first.click()
    checked_page.goto(f"{home_url}embeddings/#token-embedding")
    wait_until_idle(checked_page)
    assert checked_page.evaluate("shift") < 0.01
    first = checked_page.locator(NOTE_SELECTOR).first
    expect(first).to_be_hidden() if folded else expect(first).to_be_visible()


def test_without_javascript_the_notes_are_in_sight(no_javascript_page, home_url):
    no_javascript_page.goto(f"{home_url}sublayers/")
    count = no_javascript_page.locator(f"{NOTE_SELECTOR}:not(details *)").count()
    expect(no_javascript_page.locator(f"{NOTE_SELECTOR}:visible")).to_have_count(count or 1)
    expect(no_javascript_page.locator(".notes-button:visible")).to_have_count(0)


@pytest.mark.parametrize("width", [1280])
def test_folded_notes_are_printed_with_numbers(checked_page: Page, home_url):
    checked_page.goto(f"{home_url}sublayers/")
    checked_page.locator(".notes-button").first.click()
    checked_page.emulate_media(media="print")
    checked_page.set_viewport_size({"width": 680, "height": 1000})
    count = checked_page.locator(NOTE_SELECTOR).count()
    expect(checked_page.locator(f"{NOTE_SELECTOR}:visible")).to_have_count(count)
    expect(checked_page.locator(".notes-button:visible")).to_have_count(0)
    number = checked_page.locator(".note-link").first
    content = number.evaluate("(link) => getComputedStyle(link, '::before').content")
    assert re.fullmatch('"1"( .*)?', content)
    parts = ".annotate pre", ".annotated > ol"
    code, notes = (checked_page.locator(each).first for each in parts)
    assert notes.bounding_box()["y"] >= sum(map(code.bounding_box().get, ("y", "height")))
