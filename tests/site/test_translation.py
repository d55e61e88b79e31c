"""Both languages have the same structure, by bookbuild.check.translation on the sources."""

import pytest

import page_parts
from bookbuild.check.translation import translation_errors
from bookbuild.pages.files import line_number
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


# Each check can fail: a pair of sample pages, one change, and the expected message.

ENGLISH = """\
---
description: A page.
---

# A page

## First { #first }

We scale by $\\sqrt{d}$ and add $p$, see [the table](other.md#table).[^paper]
It prints {{ chapter/say: number }}, and `$5` is no formula.

```{ .python .annotate title="tiny.py" }
--8<-- "tiny.py:first"
```

1.  `return x` Here.

```python title="Input"
--8<-- "examples/chapter/say.py"
```

$$
y = x \\quad \\text{for all words} \\tag{1}
$$

![A line.](figures/chapter/line.svg)

!!! note "Note"

    Words.

| a | b |
|---|---|
| 1 | 2 |

### Second { #second }

**Exercise 1** (by hand, 5 minutes). Why?

??? success "Answer 1"

    Because.

[^paper]: A paper.
"""

WORDS = {
    "A page.": "一页。\ntranslated: 0123456789ab",
    "# A page": "# 一页",
    "## First": "## 第一节",
    "We scale by $\\sqrt{d}$ and add $p$, see [the table]": "见[表]",
    "(other.md#table).": "(other.md#table)：先加 $p$，再乘 $\\sqrt{d}$。",
    "It prints {{ chapter/say: number }}, and": "它打印 {{ chapter/say: number }}，而",
    "is no formula.": "不是公式。",
    "Here.": "这里。",
    'title="Input"': 'title="输入"',
    "for all words": "对所有词",
    "A line.": "一条线。",
    '"Note"\n\n    Words.': '"注"\n\n    词。',
    "| a | b |": "| 甲 | 乙 |",
    "### Second": "### 第二节",
    "Exercise 1** (by hand, 5 minutes). Why?": "练习 1**（动手算，5 分钟）。为什么？",
    "Answer 1": "答案 1",
    "Because.": "因为。",
    "A paper.": "一篇论文。",
}
CHINESE = ENGLISH
for english, chinese in WORDS.items():
    CHINESE = CHINESE.replace(english, chinese)


def test_a_page_and_its_translation_have_no_differences():
    assert not [*page_parts.differences("page.md", ENGLISH, CHINESE)]
    assert not [*page_parts.structure_errors("en", "page.md", ENGLISH)]
    assert not [*page_parts.structure_errors("zh", "page.md", CHINESE)]


TRANSLATION_CHANGES = [
    ("## 第一节 { #first }", "### 第一节 { #first }", "heading 2 is ### #first, but ## #first"),
    ("{ #second }", "{ #zweite }", "heading 3 is ### #zweite, but ### #second"),
    ("### 第二节 { #second }", "", "missing heading 3, ### #second;"),
    ("## 第一节", "## 新 { #new }\n\n## 第一节", "heading 2 is ## #new, but ## #first"),
    ('"tiny.py:first"', '"tiny.py:other"', 'include 1 is --8<-- "tiny.py:other", but'),
    ("chapter/line.svg", "chapter/wave.svg", "figure 1 is figures/chapter/wave.svg, but"),
    ("$$\ny = x", "$$\ny = z", "displayed formula 1 is y = z"),
    ("先加 $p$，", "先加 $q$，", "formula 2 is q, but p at docs/en/page.md:9"),
    ("先加 $p$，", "先加 p，", "missing formula 2, p;"),
    ("    词。", "    词 $k$。", "extra formula 3, k;"),
    ("!!! note", "!!! warning", "block 1 is !!! warning, but !!! note"),
    ("??? success", "???+ success", "block 2 is ???+ success, but ??? success"),
    ("```python", "```text", 'code block 2 is text title="Input", but python title="Input"'),
    ('title="输入"', 'title="输出"', 'code block 2 is python title="Output", but'),
    ("`return x`", "`return`", "note on a line 1 is `return`, but `return x`"),
    ("。[^paper]", "。", "missing footnote reference 1, [^paper];"),
    ("[^paper]:", "[^book]:", "footnote 1 is [^book]:, but [^paper]:"),
    ("chapter/say: number", "chapter/say: other", "value 1 is {{ chapter/say: other }}, but"),
    ("other.md#table", "other.md#row", "link 1 is other.md#row, but other.md#table"),
    ("| 1 | 2 |\n", "", "missing table row 3, a row;"),
    ("**练习 1**", "**练习 2**", "exercise 1 is exercise 2 (by hand, 5 minutes), but exercise 1"),
    ("动手算", "思考", "exercise 1 is exercise 1 (think, 5 minutes), but exercise 1 (by hand"),
    ("，5 分钟", "，9 分钟", "exercise 1 is exercise 1 (by hand, 9 minutes), but exercise 1 (by"),
]


@pytest.mark.parametrize(("old", "new", "message"), TRANSLATION_CHANGES, ids=lambda text: text[:40])
def test_a_difference_is_reported_with_both_places(old, new, message):
    assert CHINESE.count(old) == 1
    changed = CHINESE.replace(old, new)
    position = len(changed.rstrip()) if "missing" in message else CHINESE.index(old)
    start = f"docs/zh/page.md:{line_number(changed, position)}: {message}"
    messages = [*page_parts.differences("page.md", ENGLISH, changed)]
    assert any(each.startswith(start) and "docs/en/page.md:" in each for each in messages), messages


STRUCTURE_ERRORS = [
    (" { #first }", "", 8, "heading without an anchor; add one in English: { #its-name }"),
    ('??? success "答案 1"', '??? success "答案 2"', 41, "answer 2, expected answer 1"),
    ("**练习 1**", "**练习 2**", 39, "exercise 2, expected exercise 1"),
    ('??? success "答案 1"', "所以：", 39, "exercise 1 has no answer"),
    ("（动手算，5 分钟）", ".", 39, "exercise 1 has no kind and minutes; write them like"),
    ("动手算", "做", 39, "exercise 1 is of unknown kind 做; use one of by hand 动手算, think"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), STRUCTURE_ERRORS)
def test_an_error_in_the_structure_of_a_page_is_reported(old, new, line, message):
    (error,) = page_parts.structure_errors("zh", "page.md", CHINESE.replace(old, new))
    assert error.startswith(f"docs/zh/page.md:{line}: {message}")


@pytest.mark.parametrize("name", [name for name in PAGE_NAMES if not name.startswith("labs/")])
def test_a_chapter_with_exercises_has_three_to_six(name):
    exercises = page_parts.find_parts("exercise", SourcePage("en", name).text)
    number = len(exercises) // 2
    message = f"docs/en/{name}: {number} exercises; write three to six, or none"
    assert number in {0, 3, 4, 5, 6}, message
