"""The quizzes in a browser: keyboard, accessibility, and without JavaScript."""

import pytest
from playwright.sync_api import Page, expect

from bookbuild.generated import quizzes
from browser_pages import BASE_URL, check_accessibility

CHAPTER = "attention"  # its quiz has formulas, code and links
VERDICTS = {"en": ("Not quite.", "Right."), "zh": ("不对。", "对。")}


def test_keys_open_a_choice_and_show_its_verdict(checked_page: Page, home_url, language):
    checked_page.goto(f"{home_url}{CHAPTER}/")
    choices = checked_page.locator(".quiz > details")
    expect(checked_page.locator(".quiz > details[open]")).to_have_count(0)
    choices.first.locator("summary").focus()
    for choice, key in zip(choices.all()[:3], ["Enter", "Space", "Enter"], strict=True):
        expect(choice.locator("summary")).to_be_focused()
        checked_page.keyboard.press(key)
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
    checked_page.goto(f"{BASE_URL}zh/{CHAPTER}/")
    summaries = checked_page.locator(".quiz summary")
    checked_page.keyboard.press("Tab")  # from now on the focus is shown
    summaries.first.focus()
    expect(summaries.first).to_have_css("outline-style", "solid")
    summaries.evaluate_all("all => all.map(each => each.parentElement.open = true)")
    check_accessibility(checked_page, ".quiz")


def test_a_quiz_works_without_javascript(no_javascript_page, home_url, language):
    no_javascript_page.goto(f"{home_url}{CHAPTER}/")
    quiz = quizzes.load_quiz(quizzes.quiz_files()[CHAPTER])
    choices = no_javascript_page.locator(".quiz > details")
    expect(choices).to_have_count(sum(len(each["choices"]) for each in quiz))
    right = no_javascript_page.locator(".quiz > details.right")
    expect(right).to_have_count(len(quiz))
    verdict = right.first.locator("p > strong").first
    expect(verdict).to_be_hidden()
    right.first.locator("summary").click()
    expect(verdict).to_have_text(VERDICTS[language][1])


def test_the_search_does_not_find_wrong_answers(site):
    wrong = quizzes.load_quiz(quizzes.quiz_files()["embeddings"])[0]["choices"][0]["en"]
    assert wrong not in (site / "search/texts.json").read_text(encoding="utf-8")
