"""One Chinese word for each English term, on pages, in figures, widgets and quizzes."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

import terminology
from bookbuild.pages import paths
from bookbuild.pages.glossary import load_glossary
from bookbuild.pages.page import list_pages
from built_pages import assert_no_errors


def test_every_chinese_word_for_a_term_is_that_of_the_glossary():
    assert_no_errors(terminology.terminology_errors())


def test_every_file_with_chinese_text_is_checked():
    checked_files = {*terminology.chinese_files()}
    unread = ("tests", "node_modules", "site", "snippets", ".generated", ".venv", ".git")
    checked_files |= {page.path for page in list_pages("en")}  # these quote a character or two
    chinese = re.compile("[\u4e00-\u9fff]")
    errors = []
    for folder, names, files in os.walk(paths.ROOT):
        at_root = Path(folder) == paths.ROOT
        names[:] = [name for name in names if name not in unread]
        for path in (Path(folder, name) for name in files):
            text = path.suffix in (".md", ".ipynb", ".py", ".js", ".yml", ".html")
            if not text or path in checked_files or (at_root and path.suffix == ".md"):
                continue
            if chinese.search(path.read_text(encoding="utf-8")):
                errors.append(f"terminology.FILE_PATTERNS lacks {path.relative_to(paths.ROOT)}")
    assert_no_errors(errors)


def test_each_term_and_each_chinese_word_has_one_entry():
    """No two terms share a form, and no term's own word is forbidden by another term."""
    entries = load_glossary()
    english = Counter(form.lower() for e in entries for form in (e["en"], *e.get("also", [])))
    chinese = Counter(word for e in entries for word in terminology.chinese_forms(e))
    anchors = Counter(e["anchor"] for e in entries)
    rivals = Counter(rival for e in entries for rival in e.get("not", []))
    for counted in (english, chinese, anchors, rivals):
        assert not [word for word, count in counted.items() if count > 1]
    assert not chinese.keys() & rivals.keys()


# Each check can fail: a sample page with one wrong word.

SAMPLE_GLOSSARY = [
    {"en": "token", "zh": "词元", "also": ["tokens"], "not": ["令牌", "标记符"]},
    {"en": "self-attention", "zh": "自注意力", "not": ["自注意"]},
    {"en": "sampling", "zh": "抽样", "not": ["采样"]},
    {"en": "top-p", "zh": "top-p", "also": ["nucleus"], "zh_also": ["核采样"]},
    {"en": "encoder-only", "zh": "仅编码器"},
]
SAMPLE_PAGE = """\
---
description: 一页。
---

# 一页

一句话切成**词元**（token），再做**自**注意力（self-attention）；
抽样时用 top-p，又叫核采样（nucleus）。

仅编码器的（encoder-only）模型，`代码（code）`，论文的位置编码（PE），第二版（2018）。[^a]

[^a]: 某人，《某书》（A Book），2017。
"""


def page_errors(page: str) -> list[str]:
    path = paths.DOCS / "zh/page.md"
    return [
        str(each)
        for check in (terminology.forbidden_words, terminology.unknown_terms)
        for each in check(SAMPLE_GLOSSARY, path, page)
    ]


WRONG_WORDS = [
    ("再做", "令牌再做", 7, "forbidden word 令牌; use 词元 (token)"),
    ("description: 一页", "description: 标记符", 2, "forbidden word 标记符; use 词元 (token)"),
    ("模型，", "自注意模型，", 10, "forbidden word 自注意; use 自注意力 (self-attention)"),
    ("**词元**（", "**记号**（", 7, "记号（token） differs from the glossary; use 词元"),
    ("**自**注意力（", "注意力（", 7, "注意力（self-attention） differs from the glossary"),
    ("（token）", "（token，gizmo）", 7, "词元（gizmo） is not a term; add gizmo to"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG_WORDS)
def test_a_wrong_word_is_reported_with_its_line_and_the_right_one(old, new, line, message):
    assert page_errors(SAMPLE_PAGE) == [] and SAMPLE_PAGE.count(old) == 1
    (error,) = page_errors(SAMPLE_PAGE.replace(old, new))
    assert error.startswith(f"docs/zh/page.md:{line}: ")
    assert message in error
