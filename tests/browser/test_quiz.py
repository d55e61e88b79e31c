"""The quizzes in a browser: keyboard, accessibility, and without JavaScript."""

import pytest
from playwright.sync_api import Browser, Page, expect

from bookbuild.generated import quizzes
from browser_pages import BASE_URL, axe_errors
from built_pages import assert_no_errors

CHAPTER = "attention"  # its quiz has formulas, code and links
VERDICTS = {"en": ("Not quite.", "Right."), "zh": ("不对。", "对。")}


@pytest.fixture
def chapter_url(home_url: str) -> str:
    return f"{home_url}{CHAPTER}/"


def test_keys_open_a_choice_and_show_its_verdict(checked_page: Page, chapter_url, language):
    checked_page.goto(chapter_url)
    choices = checked_page.locator(".quiz > details")
    assert choices.count() >= 15
    expect(checked_page.locator(".quiz > details[open]")).to_have_count(0)
    choices.first.locator("summary").focus()
    for number in range(3):
        choice = choices.nth(number)
        summary = choice.locator("summary")
        expect(summary).to_be_focused()
        checked_page.keyboard.press(["Enter", "Space", "Enter"][number])
        right = "right" in (choice.get_attribute("class") or "")
        verdict = choice.locator("p > strong").first
        expect(verdict).to_be_visible()
        expect(verdict).to_have_text(VERDICTS[language][right])
        checked_page.keyboard.press("Space")
        expect(verdict).to_be_hidden()
        checked_page.keyboard.press("Tab")
    expect(choices.nth(3).locator("summary")).to_be_focused()


@pytest.mark.parametrize("width", [390])
def test_a_choice_is_large_enough_shows_its_focus_and_is_accessible(checked_page: Page):
    """test_all_pages.py checks no Chinese page in the dark scheme, and not all formulas."""
    checked_page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    checked_page.goto(f"{BASE_URL}zh/{CHAPTER}/")
    summaries = checked_page.locator(".quiz summary")
    sizes = summaries.evaluate_all("all => all.map(each => each.getBoundingClientRect().height)")
    assert min(sizes) >= 24
    checked_page.keyboard.press("Tab")  # from now on the focus is shown
    summaries.first.focus()
    assert summaries.first.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    checked_page.locator(".quiz details").evaluate_all("all => all.map(each => each.open = true)")
    assert_no_errors(axe_errors(checked_page, ".quiz"))


def test_a_quiz_works_without_javascript(browser: Browser, chapter_url, language):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(chapter_url)
    count = sum(len(each["choices"]) for each in quizzes.load_quiz(quizzes.quiz_files()[CHAPTER]))
    choices = page.locator(".quiz > details")
    expect(choices).to_have_count(count)
    right = page.locator(".quiz > details.right")
    expect(right).to_have_count(quizzes.NUM_QUESTIONS)
    verdict = right.first.locator("p > strong").first
    expect(verdict).to_be_hidden()
    right.first.locator("summary").click()
    expect(verdict).to_have_text(VERDICTS[language][1])
    context.close()


def test_the_search_does_not_find_wrong_answers(site):
    wrong = quizzes.load_quiz(quizzes.quiz_files()["embeddings"])[0]["choices"][0]["en"]
    assert wrong not in (site / "search/texts.json").read_text(encoding="utf-8")
