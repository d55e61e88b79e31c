"""Both languages say the same: on the Markdown sources, with the checks of scripts/parity.py."""

import re

import pytest

from bookbuild.check import translation
from bookbuild.check.translation import translation_errors
from bookbuild.pages.files import line_number
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES

NAMES = sorted({page.name for language in LANGUAGES for page in list_pages(language)})


@pytest.mark.parametrize("name", NAMES)
def test_each_page_is_there_in_both_languages(name):
    for language in LANGUAGES:
        page = SourcePage(language, name)
        assert page.path.exists(), (
            f"write docs/{language}/{name}, the twin of {page.translation.path}"
        )


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_parts_in_the_same_order(name):
    english, chinese = SourcePage("en", name).text, SourcePage("zh", name).text
    assert not [*translation.differences(name, english, chinese)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_headings_have_anchors_and_exercises_have_answers(name, language):
    assert not [*translation.structure_errors(language, name, SourcePage(language, name).text)]


@pytest.mark.parametrize("name", NAMES)
def test_front_matter_has_the_same_keys(name):
    english, chinese = SourcePage("en", name).meta, SourcePage("zh", name).meta
    chinese.pop("translated", None)
    assert english.keys() == chinese.keys(), f"front matter of docs/en/{name} and docs/zh/{name}"
    for need, twin in zip(english.pop("needs", []), chinese.pop("needs", []), strict=True):
        links = translation.LINK.findall(need)
        assert links == translation.LINK.findall(twin), f"what to know for {name}: {need}, {twin}"
    for key in english.keys() - {"title", "description"}:
        assert english[key] == chinese[key], f"{key} differs in docs/en/{name} and docs/zh/{name}"


def test_every_chinese_page_was_checked_against_the_english_one_as_it_is():
    assert not [str(fault) for fault in translation_errors()]


# Each of these checks can fail: a small pair, one thing in it changed, and what is said of it.

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

CHINESE = """\
---
description: 一页。
translated: 0123456789ab
---

# 一页

## 第一节 { #first }

见[表](other.md#table)：先加 $p$，再乘 $\\sqrt{d}$。[^paper]
它打印 {{ chapter/say: number }}，而 `$5` 不是公式。

```{ .python .annotate title="tiny.py" }
--8<-- "tiny.py:first"
```

1.  `return x` 这里。

```python title="输入"
--8<-- "examples/chapter/say.py"
```

$$
y = x \\quad \\text{对所有词} \\tag{1}
$$

![一条线。](figures/chapter/line.svg)

!!! note "注"

    词。

| 甲 | 乙 |
|---|---|
| 1 | 2 |

### 第二节 { #second }

**练习 1**（动手算，5 分钟）。为什么？

??? success "答案 1"

    因为。

[^paper]: 一篇论文。
"""


def test_a_page_and_its_faithful_twin_have_no_differences():
    assert not [*translation.differences("page.md", ENGLISH, CHINESE)]
    assert not [*translation.structure_errors("en", "page.md", ENGLISH)]
    assert not [*translation.structure_errors("zh", "page.md", CHINESE)]


CHANGES = [
    ("## 第一节 { #first }", "### 第一节 { #first }", "heading 2 is ### #first, but ## #first"),
    ("{ #second }", "{ #zweite }", "heading 3 is ### #zweite, but ### #second"),
    ("### 第二节 { #second }", "", "heading 3, ### #second, is missing"),
    ("## 第一节", "## 新 { #new }\n\n## 第一节", "heading 2 is ## #new, but ## #first"),
    ('"tiny.py:first"', '"tiny.py:other"', 'include 1 is --8<-- "tiny.py:other", but'),
    ("chapter/line.svg", "chapter/wave.svg", "figure 1 is figures/chapter/wave.svg, but"),
    ("$$\ny = x", "$$\ny = z", "displayed formula 1 is y = z"),
    ("先加 $p$，", "先加 $q$，", "formula 2 is q, but p at docs/en/page.md:9"),
    ("先加 $p$，", "先加 p，", "formula 2, p, is missing"),
    ("    词。", "    词 $k$。", "formula 3, k, has no twin"),
    ("!!! note", "!!! warning", "block 1 is !!! warning, but !!! note"),
    ("??? success", "???+ success", "block 2 is ???+ success, but ??? success"),
    ("```python", "```text", 'code block 2 is text title="Input", but python title="Input"'),
    ('title="输入"', 'title="输出"', 'code block 2 is python title="Output", but'),
    ("`return x`", "`return`", "note on a line 1 is `return`, but `return x`"),
    ("。[^paper]", "。", "footnote reference 1, [^paper], is missing"),
    ("[^paper]:", "[^book]:", "footnote 1 is [^book]:, but [^paper]:"),
    ("chapter/say: number", "chapter/say: other", "value 1 is {{ chapter/say: other }}, but"),
    ("other.md#table", "other.md#row", "link 1 is other.md#row, but other.md#table"),
    ("| 1 | 2 |\n", "", "table row 3, a row, is missing"),
    ("**练习 1**", "**练习 2**", "exercise 1 is exercise 2, but exercise 1"),
    ("动手算", "思考", "label of an exercise 1 is think, 5 minutes, but by hand, 5 minutes"),
    ("，5 分钟", "，9 分钟", "label of an exercise 1 is by hand, 9 minutes, but by hand"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES, ids=lambda text: text[:40])
def test_a_difference_is_told_with_both_places(old, new, message):
    assert CHINESE.count(old) == 1
    changed = CHINESE.replace(old, new)
    position = len(changed.rstrip()) if "missing" in message else CHINESE.index(old)
    start = f"docs/zh/page.md:{line_number(changed, position)}: {message}"
    told = [*translation.differences("page.md", ENGLISH, changed)]
    assert any(each.startswith(start) and "docs/en/page.md:" in each for each in told), told


def test_every_kind_of_difference_is_tried():
    tried = [message for _, _, message in CHANGES]
    for kind in translation.KINDS:
        assert any(re.match(rf"{kind} \d", message) for message in tried), kind


def test_a_heading_without_anchor_is_told():
    broken = ENGLISH.replace(" { #first }", "")
    told = [*translation.structure_errors("en", "page.md", broken)]
    assert told == [
        "docs/en/page.md:7: this heading has no anchor; add one in English: { #its-name }"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('??? success "答案 1"', '??? success "答案 2"', "answer 2, expected answer 1"),
        ("**练习 1**", "**练习 2**", "exercise 2, expected exercise 1"),
    ],
)
def test_an_exercise_or_answer_out_of_place_is_told(old, new, message):
    told = [*translation.structure_errors("zh", "page.md", CHINESE.replace(old, new))]
    assert told == [f"docs/zh/page.md:{line_number(CHINESE, CHINESE.index(old))}: {message}"]


def test_an_exercise_without_answer_is_told():
    told = [
        *translation.structure_errors(
            "zh", "page.md", CHINESE.replace('??? success "答案 1"', "所以：")
        )
    ]
    line = line_number(CHINESE, CHINESE.index("**练习"))
    assert told == [f"docs/zh/page.md:{line}: exercise 1 has no answer"]


LABELS = [
    ("（动手算，5 分钟）", ".", "exercise 1 doesn't say what one does and how long it takes"),
    ("动手算", "做", "exercise 1 is of the kind 做; take one of ['by hand', 'think', "),
]


@pytest.mark.parametrize(("old", "new", "message"), LABELS)
def test_an_exercise_without_a_kind_or_a_size_is_told(old, new, message):
    (told,) = translation.structure_errors("zh", "page.md", CHINESE.replace(old, new))
    line = line_number(CHINESE, CHINESE.index("**练习"))
    assert told.startswith(f"docs/zh/page.md:{line}: {message}")
    assert not [
        *translation.structure_errors(
            "zh", "labs/page.md", CHINESE.replace("（动手算，5 分钟）。", ". ")
        )
    ]


def test_an_exercise_that_is_shorter_than_one_before_it_is_told():
    start = CHINESE.index("**练习 1**")
    second = CHINESE[start:].replace(" 1", " 2").replace("，5 分", "，3 分")
    (told,) = translation.structure_errors("zh", "page.md", CHINESE + "\n" + second)
    assert told.endswith(": exercise 2 takes 3 minutes and comes after one of 5")


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("labs/")])
def test_a_chapter_with_exercises_has_three_to_six(name):
    found = translation.exercise_labels(translation.parse_text(SourcePage("en", name).text))
    assert len(found) in {0, 3, 4, 5, 6}
