"""Errors in a quiz are reported with file and line; the quizzes of the book are complete."""

import re
from collections import Counter

import pytest

import page_parts
from bookbuild.generated import quizzes
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
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
def quiz_file(sample_folder):
    """The file of a valid quiz in the sample book."""
    path = sample_folder / "docs/quizzes/other.yml"
    path.parent.mkdir()
    path.write_text(VALID_QUIZ, encoding="utf-8")
    return path


def test_each_choice_is_followed_by_its_verdict(quiz_file):
    markdown = quizzes.quiz_markdown(quiz_file, "zh")
    assert markdown.count("**问题 1.** 是吗？") == 1
    choices = re.findall(
        r'<details class="(\w+)" markdown>\s*<summary markdown>(.*?)</summary>\n\n(.*?)\n', markdown
    )
    wrong = "**不对。**因为 $1 \\neq 2$。"
    assert choices[:3] == [
        ("right", "是", "**对。**见[那里](#there)。"),
        ("wrong", "1 是错的", wrong),
        ("wrong", "2 是错的", wrong),
    ]


LAST_CHOICE = WRONG_CHOICES.format(number=2)
INVALID_QUIZZES = [
    ("Is it so?", "Is it: so?", "1: invalid YAML: mapping values are not"),
    ("      right: true\n", "", "1: question 1 has 0 right choices"),
    (LAST_CHOICE, "", "1: question 1 has 2 choices; write 3 or 4"),
    ("      zh: 1 是错的\n", "", "9: entry without zh; each needs en, zh"),
    ("  zh: 是吗？\n", "  zh: 是吗？\n  note: x\n", "3: unknown key note; use one of en, zh"),
    ("en_why: See [there](#there).", 'en_why: "See $\\theta$."', "7: control character; write"),
    ("Is it so?", "Is <bos> so?", "1: HTML tag <bos>; put it between"),
]


@pytest.mark.parametrize(("old", "new", "message"), INVALID_QUIZZES)
def test_an_invalid_quiz_is_reported_with_its_line(quiz_file, old, new, message):
    quiz_file.write_text(VALID_QUIZ.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SourceError) as error:
        quizzes.load_quiz(quiz_file)
    assert str(error.value).startswith(f"docs/quizzes/other.yml:{message}")


# The quizzes of the book

QUIZ_FILES = quizzes.quiz_files()
parametrize_chapter = pytest.mark.parametrize("name", QUIZ_FILES)
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
            if name not in QUIZ_FILES or not re.search(pattern, page.text, re.M):
                errors.append(f"{page.display_path}: no quiz before its exercises")
    assert_no_errors(errors)
    assert QUIZ_FILES.keys() <= {page.name.removesuffix(".md") for page in list_pages(language)}


@parametrize_chapter
def test_the_right_choices_are_at_different_positions(name):
    """The right choices have three different positions, and at most two the same."""
    positions = [
        [choice.get("right") == "true" for choice in question["choices"]].index(True) + 1
        for question in quizzes.load_quiz(QUIZ_FILES[name])
    ]
    found = f"docs/quizzes/{name}.yml: the right choices are at the positions {positions}"
    hint = "use three positions, each at most twice"
    assert len(set(positions)) >= 3 and max(Counter(positions).values()) <= 2, f"{found}; {hint}"


@parametrize_chapter
def test_the_right_choice_is_rarely_the_longest(name):
    """Picking the longest choice gives at most three right answers."""
    longest = 0
    for question in quizzes.load_quiz(QUIZ_FILES[name]):
        choices = sorted(question["choices"], key=lambda choice: len(choice["en"]))
        longest += choices[-1].get("right") == "true"
    assert longest <= 3, f"docs/quizzes/{name}.yml: {longest} right choices are the longest"


@parametrize_chapter
def test_both_languages_have_the_same_links_and_formulas(name):
    english, chinese = (quizzes.quiz_markdown(QUIZ_FILES[name], language) for language in LANGUAGES)
    assert_no_errors(page_parts.differences(f"quizzes/{name}.yml", english, chinese))


@parametrize_chapter
def test_links_and_choices_contain_words(name):
    """A screen reader may say nothing for a formula alone."""
    path = QUIZ_FILES[name]
    text = path.read_text(encoding="utf-8")
    errors = re.findall(r"\[\$[^$]*\$\]\([^)]*\)", text)
    choices = [choice for question in quizzes.load_quiz(path) for choice in question["choices"]]
    errors += [choice["en"] for choice in choices if re.fullmatch(r"\$[^$]*\$", choice["en"])]
    assert_no_errors(f"{name}: {problem}" for problem in errors)
