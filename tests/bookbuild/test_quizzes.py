"""An incomplete quiz is an error with its place; the book's quizzes are complete."""

import re
from collections import Counter

import pytest

from bookbuild.check import translation
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import quizzes
from bookbuild.run import generate
from built_pages import assert_no_errors

WRONG_CHOICES = """\
    - en: {number} is wrong
      zh: {number} 是错的
      en_why: Since $1 \\neq 2$.
      zh_why: 因为 $1 \\neq 2$。
"""
QUESTION = """\
- en: Is it so?
  zh: 是吗？
  choices:
    - en: Yes
      zh: 是
      right: true
      en_why: See [there](#there).
      zh_why: 见[那里](#there)。
""" + "".join(WRONG_CHOICES.format(number=number) for number in (1, 2))
VALID_QUIZ = 5 * QUESTION


@pytest.fixture
def quiz(small):
    """The file of a quiz in the small book, without an error."""
    path = small / "docs/quizzes/other.yml"
    path.parent.mkdir()
    path.write_text(VALID_QUIZ, encoding="utf-8")
    return path


def error_message(path) -> str:
    with pytest.raises(SourceError) as error:
        quizzes.load_quiz(path)
    return str(error.value).removeprefix("docs/quizzes/other.yml:")


@pytest.mark.parametrize(
    ("language", "question", "right", "wrong"),
    [
        ("en", "**Question 1.** Is it so?", "**Right.** See [there](#there).", "**Not quite.** S"),
        ("zh", "**问题 1.** 是吗？", "**对。**见[那里](#there)。", "**不对。**因为"),
    ],
)
def test_each_choice_is_followed_by_its_verdict(quiz, language, question, right, wrong):
    made = quizzes.quiz_markdown(quiz, language)
    choices = re.findall(r'<details class="(\w+)" markdown>.*?</summary>\n\n(.*?)\n', made, re.S)
    assert question in made
    assert [verdict for verdict, _ in choices] == 5 * ["right", "wrong", "wrong"]
    assert [text for _, text in choices[:1]] == [right]
    assert all(text.startswith(wrong) for _, text in choices[1:3])


def test_choices_stand_in_the_order_of_the_file(quiz):
    made = quizzes.quiz_markdown(quiz, "en")
    assert re.findall(r"<summary markdown>(.*?)</summary>", made)[:3] == [
        "Yes",
        "1 is wrong",
        "2 is wrong",
    ]


LAST_CHOICE = WRONG_CHOICES.format(number=2)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (QUESTION, "", "1: 4 questions; a quiz has 5"),
        (VALID_QUIZ, "nothing\n", "1: not a list of entries; begin each with - en: TEXT"),
        ("      right: true\n", "", "1: question 1 has 0 right choices"),
        (
            "    - en: 2 is wrong\n",
            "    - en: 2 is wrong\n      right: true\n",
            "1: question 1 has 2 right choices",
        ),
        (LAST_CHOICE, "", "1: question 1 has 2 choices; write 3 or 4"),
        (LAST_CHOICE, 3 * LAST_CHOICE, "1: question 1 has 5 choices; write 3 or 4"),
        ("  zh: 是吗？\n", "", "1: entry without zh; each needs en, zh"),
        ("      zh: 1 是错的\n", "", "9: entry without zh; each needs en, zh"),
        (
            "      en_why: See [there](#there).\n",
            "      en_why:\n",
            "4: entry without en_why; each needs en, zh",
        ),
        ("      zh_why: 因为", "      zh_wy: 因为", "9: entry without zh_why; each needs en, zh"),
        (
            "  zh: 是吗？\n",
            "  zh: 是吗？\n  note: x\n",
            "3: unknown key note; use one of en, zh",
        ),
        (
            "en_why: See [there](#there).",
            'en_why: "See $\\theta$."',
            "7: control character; write",
        ),
        ("Is it so?", "Is <bos> so?", "1: HTML tag <bos>; put it between"),
        ("Is it so?", "Is it so: yes?", "1: invalid YAML: mapping values are not allowed here"),
    ],
)
def test_a_quiz_that_is_not_whole_is_reported_with_its_line(quiz, old, new, message):
    quiz.write_text(VALID_QUIZ.replace(old, new, 1), encoding="utf-8")
    assert error_message(quiz).startswith(message)


def test_a_later_question_is_reported_with_its_own_line(quiz):
    quiz.write_text(4 * QUESTION + QUESTION.replace("      right: true\n", ""), encoding="utf-8")
    first = 4 * QUESTION.count("\n") + 1
    assert error_message(quiz).startswith(f"{first}: question 5 has 0 right choices")


def test_generating_stops_at_a_quiz_that_is_not_whole(quiz, monkeypatch, capsys):
    quiz.write_text(4 * QUESTION, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["generate"])
    assert generate.main() == 1
    assert capsys.readouterr().err == "docs/quizzes/other.yml:1: 4 questions; a quiz has 5\n"


def test_what_is_said_of_a_link_is_said_with_its_line_in_the_quiz(quiz):
    output = [str(problem) for problem in quizzes.errors_at_text("](#there)", "leads nowhere")]
    assert output == ["docs/quizzes/other.yml:4: leads nowhere"]


# The book's own

CHAPTERS = quizzes.quiz_files()
each_chapter = pytest.mark.parametrize("name", CHAPTERS)
QUIZ_BEFORE_EXERCISES = (
    r'^## {title} {{ #quiz }}\n\n--8<-- "quizzes/{name}\.md"\n\n## [^\n]+ {{ #exercises }}$'
)


@pytest.mark.parametrize(("language", "title"), [("en", "Quiz"), ("zh", "测验")])
def test_every_chapter_that_has_exercises_has_its_quiz_just_before_them(language, title):
    errors = []
    for page in list_pages(language):
        name = page.name.removesuffix(".md")
        if not page.is_notebook and re.search(r"^\*\*(?:Exercise|练习) 1", page.text, re.M):
            pattern = QUIZ_BEFORE_EXERCISES.format(title=title, name=re.escape(name))
            if name not in CHAPTERS or not re.search(pattern, page.text, re.M):
                errors.append(f"{page.display_path}: no quiz before its exercises")
    assert_no_errors(errors)
    assert CHAPTERS.keys() <= {page.name.removesuffix(".md") for page in list_pages(language)}


@each_chapter
def test_the_right_choices_are_spread_over_the_places(name):
    """No place has more than two of five, and no three in a row are the same."""
    places = [
        [choice.get("right") == "true" for choice in question["choices"]].index(True)
        for question in quizzes.load_quiz(CHAPTERS[name])
    ]
    assert len(set(places)) >= 3 and max(Counter(places).values()) <= 2, places


@each_chapter
def test_the_right_choice_is_not_the_longest_as_a_rule(name):
    """Anyone who has learned to pick the longest answer will not get far."""
    longest = 0
    for question in quizzes.load_quiz(CHAPTERS[name]):
        choices = sorted(question["choices"], key=lambda choice: len(choice["en"]))
        longest += choices[-1].get("right") == "true"
    assert longest <= 3


@each_chapter
def test_both_languages_have_the_same_links_and_formulas(name):
    english, chinese = (quizzes.quiz_markdown(CHAPTERS[name], language) for language in LANGUAGES)
    assert_no_errors(translation.differences(f"quizzes/{name}.yml", english, chinese))


@each_chapter
def test_links_and_choices_have_words(name):
    """Anyone who has them read aloud may hear nothing of a formula alone."""
    path = CHAPTERS[name]
    text = path.read_text(encoding="utf-8")
    errors = re.findall(r"\[\$[^$]*\$\]\([^)]*\)", text)
    choices = [choice for question in quizzes.load_quiz(path) for choice in question["choices"]]
    errors += [choice["en"] for choice in choices if re.fullmatch(r"\$[^$]*\$", choice["en"])]
    assert_no_errors(f"{name}: {problem}" for problem in errors)
