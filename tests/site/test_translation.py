"""Both languages have the same structure, by bookbuild.check.translation on the sources."""

import pytest

import page_parts
from bookbuild.check.translation import translation_errors
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES

PAGE_NAMES = sorted({page.name for language in LANGUAGES for page in list_pages(language)})


def skip_pending(name: str) -> None:
    """Skip the test if the page is marked as behind in one language."""
    for language in LANGUAGES:
        page = SourcePage(language, name)
        if page.is_pending:
            pytest.skip(f"{page.display_path} is behind {page.translation.display_path}")


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_both_languages_have_the_same_parts_in_the_same_order(name):
    skip_pending(name)
    english, chinese = SourcePage("en", name).text, SourcePage("zh", name).text
    assert not [*page_parts.differences(name, english, chinese)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PAGE_NAMES)
def test_headings_have_anchors_and_exercises_have_answers(name, language):
    assert not [*page_parts.structure_errors(language, name, SourcePage(language, name).text)]


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_front_matter_has_the_same_keys(name):
    skip_pending(name)
    english, chinese = SourcePage("en", name).meta, SourcePage("zh", name).meta
    chinese.pop("translated", None)
    assert english.keys() == chinese.keys(), f"front matter of docs/en/{name} and docs/zh/{name}"
    for en, zh in zip(english.pop("needs", []), chinese.pop("needs", []), strict=True):
        links = page_parts.LINK.findall(en)
        assert links == page_parts.LINK.findall(zh), f"links in needs of {name}: {en}, {zh}"
    for key in english.keys() - {"title", "description", "question"}:
        assert english[key] == chinese[key], f"{key} differs in docs/en/{name} and docs/zh/{name}"


def test_every_chinese_page_was_reviewed_against_the_current_english_page():
    assert not [str(error) for error in translation_errors()]


# Each check can fail.

DIFFERENCES = [
    ("## A { #a }", "## 甲 { #jia }", "heading 1 is ## #jia, but ## #a"),
    (
        '--8<-- "tiny.py:first"',
        '--8<-- "tiny.py:other"',
        'include 1 is --8<-- "tiny.py:other"',
    ),
    ("![A.](figures/a/b.svg)", "![甲。](figures/a/c.svg)", "figure 1 is figures/a/c.svg, but"),
    ("$$\ny = x\n$$", "$$\ny = z\n$$", "displayed formula 1 is y = z"),
    ("$p$", "$q$", "formula 1 is q, but p at docs/en/page.md:1"),
    ("words", "词 $k$", "extra formula 1, k;"),
    ('!!! note "A"', '!!! warning "甲"', "block 1 is !!! warning, but !!! note"),
    ('```python title="Input"\n```', '```python title="输出"\n```', "code block 1 is python"),
    ("1.  `return x` Here.", "1.  `return` 这里。", "note on a line 1 is `return`, but `return x`"),
    ("words.[^a]", "词。", "missing footnote reference 1, [^a];"),
    ("[^a]: A.", "[^b]: 甲。", "footnote 1 is [^b]:, but [^a]:"),
    ("{{ a/b: c }}", "{{ a/b: d }}", "value 1 is {{ a/b: d }}, but {{ a/b: c }}"),
    ("[a](other.md#a)", "[甲](other.md#b)", "link 1 is other.md#b, but other.md#a"),
    ("| a |", "甲", "missing table row 1, a row;"),
    (
        "**Exercise 1** (by hand, 5 minutes). A?",
        "**练习 1**（思考，5 分钟）。甲？",
        "exercise 1 is exercise 1 (think, 5 minutes), but exercise 1 (by hand, 5 minutes)",
    ),
]


@pytest.mark.parametrize(("english", "chinese", "message"), DIFFERENCES)
def test_a_difference_is_reported_with_both_places(english, chinese, message):
    (found,) = page_parts.differences("page.md", f"{english}\n", f"{chinese}\n")
    assert found.startswith(f"docs/zh/page.md:1: {message}")
    assert "docs/en/page.md:1" in found


def test_words_and_their_order_may_differ():
    english = 'We add $p$ to [a](b.md), {{ a/b: c }}, and `$5`.\n\n```python title="Input"\n```\n'
    chinese = '见[甲](b.md)：{{ a/b: c }}加 $p$，`$6`。\n\n```python title="输入"\n```\n'
    english += "\n$$\ny \\text{for all}\n$$\n\n**Exercise 1** (by hand, 5 minutes). A?\n"
    chinese += "\n$$\ny \\text{对所有}\n$$\n\n**练习 1**（动手算，5 分钟）。甲？\n"
    assert not [*page_parts.differences("page.md", english, chinese)]


EXERCISE, ANSWER = "**练习 1**（动手算，5 分钟）。甲？", '??? success "答案 1"'
STRUCTURE_ERRORS = [
    ("## 甲", 1, "heading without an anchor; add one in English: { #its-name }"),
    (f"{EXERCISE}\n{ANSWER.replace('1', '2')}", 2, "answer 2, expected answer 1"),
    (EXERCISE.replace("1", "2"), 1, "exercise 2, expected exercise 1"),
    (EXERCISE, 1, "exercise 1 has no answer"),
    (f"**练习 1**。甲？\n{ANSWER}", 1, "exercise 1 has no kind and minutes; write them like"),
    (
        f"{EXERCISE.replace('动手算', '做')}\n{ANSWER}",
        1,
        "exercise 1 is of unknown kind 做; use",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), STRUCTURE_ERRORS)
def test_an_error_in_the_structure_of_a_page_is_reported(text, line, message):
    (error,) = page_parts.structure_errors("zh", "page.md", text)
    assert error.startswith(f"docs/zh/page.md:{line}: {message}")


@pytest.mark.parametrize("name", [name for name in PAGE_NAMES if not name.startswith("labs/")])
def test_a_chapter_with_exercises_has_three_to_six(name):
    exercises = page_parts.find_parts("exercise", SourcePage("en", name).text)
    number = len(exercises) // 2
    message = f"docs/en/{name}: {number} exercises; write three to six, or none"
    assert number in {0, 3, 4, 5, 6}, message
