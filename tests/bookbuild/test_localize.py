"""The Chinese snippets are the English ones in other words, and print the same numbers."""

import ast
import json
import re
from pathlib import Path

import pytest

from bookbuild.check.translation import notebook_errors
from bookbuild.localize import catalogs
from bookbuild.localize.catalogs import (
    HEADER,
    PROGRAMS,
    catalog_path,
    code_files,
    file_name,
    read_code,
    update_catalogs,
)
from bookbuild.localize.labs import update_labs
from bookbuild.localize.render import render_file
from bookbuild.pages import paths
from bookbuild.pages.labs import notebooks
from built_pages import assert_no_errors
from catalog_checks import catalog_errors, rendering_errors
from sample_book import line_of, notebook_cell, write_notebook

MODULE = '''\
"""Counts.

Shapes: (batch, n) -> the same.
"""


# --8<-- [start:count]
def count(ids):  # noqa: D103
    # How many of them are
    # not zero.
    if not ids.dim():  # (batch, n)
        raise ValueError("no axes, "
                         f"got {ids.dtype} of {ids!r}")
    return (ids != 0).sum()  # over (batch, n)
# --8<-- [end:count]
'''
ENTRIES = {
    "Counts.\n\nShapes: (batch, n) -> the same.": "计数。\n\n形状：(batch, n) -> 不变。",
    "How many of them are\nnot zero.": "有多少个\n不是零。",
    "no axes, ": "没有轴，",
    "got {ids.dtype} of {ids!r}": "{ids!r} 是 {ids.dtype}",
    "over (batch, n)": "沿着 (batch, n)",
}
CHINESE_MODULE = '''\
"""计数。

形状：(batch, n) -> 不变。
"""


# --8<-- [start:count]
def count(ids):  # noqa: D103
    # 有多少个
    # 不是零。
    if not ids.dim():  # (batch, n)
        raise ValueError("没有轴，"
                         f"{ids!r} 是 {ids.dtype}")
    return (ids != 0).sum()  # 沿着 (batch, n)
# --8<-- [end:count]
'''


@pytest.fixture
def snippet(tmp_path, monkeypatch) -> Path:
    """A module in a folder with its catalog."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "SNIPPETS", tmp_path / "snippets")
    monkeypatch.setattr(paths, "DOCS", tmp_path / "docs")
    path = paths.SNIPPETS / "count.py"
    catalog_path(path).parent.mkdir(parents=True)
    path.write_text(MODULE, encoding="utf-8")
    write_catalog(path, ENTRIES)
    return path


def write_catalog(snippet: Path, entries: dict[str, str]) -> None:
    lines = [
        f"msgid {json.dumps(english)}\nmsgstr {json.dumps(chinese, ensure_ascii=False)}\n\n"
        for english, chinese in entries.items()
    ]
    catalog_path(snippet).write_text(HEADER + "".join(lines), encoding="utf-8")


def errors() -> list[str]:
    return [*map(str, catalog_errors()), *map(str, rendering_errors())]


def test_every_text_has_chinese_words_that_fit():
    assert_no_errors(errors())


PYTHON_FILES = [path for path in code_files() if path.suffix != ".js"]


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: path.stem)
def test_the_chinese_code_is_the_english_code_on_the_same_lines(path):
    english, chinese = read_code(path), render_file(path)
    may_print_all = file_name(path).partition("/")[0] in PROGRAMS
    trees = [code_without_words(text, may_print_all) for text in (english, chinese)]
    assert trees[0] == trees[1]
    assert marker_lines(english) == marker_lines(chinese)


def test_the_chinese_javascript_is_the_english_one_on_the_same_lines():
    path = paths.SNIPPETS / "translator.js"
    english, chinese = path.read_text(encoding="utf-8"), render_file(path)
    assert javascript_code(english) == javascript_code(chinese)
    assert marker_lines(english) == marker_lines(chinese)


def javascript_code(source: str) -> str:
    """The lines without comments and without the words of errors."""
    comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
    code = comment.sub(lambda match: "\n" * match[0].count("\n"), source)
    errors = re.compile(r'(?<=new Error\()(".*?"|`.*?`)')
    return errors.sub(lambda match: str(re.findall(r"\$\{.*?\}", match[0])), code)


def code_without_words(source: str, may_print_all: bool) -> str:
    """The syntax tree and the line of each statement, without docstrings and without the words in
    print, raise, help and f-strings; of a program that only prints, without all words."""
    tree = ast.parse(source)
    lines = [
        (node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, ast.stmt)
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ...
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        is_printed = is_call and node.func.id == "print"
        is_help = isinstance(node, ast.keyword) and node.arg in ("help", "description", "usage")
        if may_print_all or is_printed or is_help or isinstance(node, ast.Raise | ast.JoinedStr):
            for part in ast.walk(node):
                if isinstance(part, ast.JoinedStr):
                    values = [v for v in part.values if isinstance(v, ast.FormattedValue)]
                    part.values = sorted(values, key=ast.dump)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    part.value = "words"
    return f"{lines}\n{ast.dump(tree)}"


def marker_lines(source: str) -> list[tuple[int, str]]:
    return [each for each in enumerate(source.splitlines()) if "--8<-- [" in each[1]]


def test_programs_print_the_same_numbers_in_both_languages():
    messages = []
    for path in sorted((paths.GENERATED / "zh/outputs").rglob("*.*")):
        name = path.relative_to(paths.GENERATED / "zh")
        chinese, english = map(printed_numbers, (path, paths.GENERATED / name))
        if chinese != english:
            messages.append(f"zh/{name} has other numbers than the English output")
    assert_no_errors(messages)


def printed_numbers(path: Path) -> list[str]:
    """The numbers that a program or the cells of a lab print."""
    text = path.read_text(encoding="utf-8")
    return sorted(re.findall(r"\d+", "".join(json.loads(text)) if path.suffix == ".json" else text))


def test_a_module_is_rendered_line_by_line(snippet):
    assert render_file(snippet) == CHINESE_MODULE
    assert errors() == []


def test_a_changed_text_makes_its_translation_stale(snippet):
    snippet.write_text(MODULE.replace("# over (batch, n)", "# over all"), encoding="utf-8")
    missing, unused = errors()
    assert missing.startswith("snippets/count.py:14: no Chinese for the comment 'over all")
    assert unused.startswith("snippets/zh/count.po:18: no file has the words 'over (batch")


def test_an_update_changes_no_catalog(monkeypatch):
    """Else whoever adds a chapter finds changes in others."""
    written = {}
    monkeypatch.setattr(catalogs, "write_file", written.__setitem__)
    assert not [*update_catalogs()]
    changed = [path.name for path, text in written.items() if path.read_text("utf-8") != text]
    assert not changed, "run scripts/translated --code"


def test_an_update_proposes_the_old_words_for_a_changed_text(snippet):
    snippet.write_text(MODULE.replace("got {", "it is {"), encoding="utf-8")
    assert [*update_catalogs()] == ["snippets/zh/count.po: to translate or review: 1"]
    text = catalog_path(snippet).read_text(encoding="utf-8")
    assert '#, fuzzy, python-brace-format\nmsgid "it is {' in text and 'msgid "got {' not in text
    assert '"{ids!r} 是 {ids.dtype}"' in text
    assert errors() and "it is {" in render_file(snippet), "not used until it is reviewed"


@pytest.mark.parametrize(
    ("english", "chinese", "message"),
    [
        ("How many of them are\nnot zero.", "有多少个不是零。", "write 2 lines, as in English"),
        ("over (batch, n)", "沿着批和位置的两个轴一直加到最后得到的一个总数", "shorten it by 22"),
        ("got {ids.dtype} of {ids!r}", "收到 {ids!r}", "the placeholders differ"),
        ("got {ids.dtype} of {ids!r}", "收到 {ids!r} {ids.dtype", "in the Chinese words"),
    ],
)
def test_chinese_words_that_do_not_fit_are_reported(snippet, english, chinese, message):
    write_catalog(snippet, {**ENTRIES, english: chinese})
    (error,) = errors()
    assert "snippets/zh/count.po:" in error and message in error


CODE = 'SITE = "https://book.example/"\nprint("heads:", 4)  # of the model'
TEXT = '# Lab\n\n```python\ndef f():\n    """Answers."""\n```\n\n```text\nAnswers.\n```'


@pytest.fixture
def labs(snippet) -> list[Path]:
    """A lab in both languages with the same cells, and its catalog."""
    files = [paths.DOCS / language / "labs" / "lab.ipynb" for language in ("en", "zh")]
    for path in files:
        path.parent.mkdir(parents=True)
        cells = notebook_cell("code", "code", CODE), notebook_cell("markdown", "text", TEXT)
        write_notebook(path, *cells)
    write_catalog(files[0], {"heads:": "头:", "of the model": "模型的", "Answers.": "答案。"})
    return files


def test_the_cells_and_answers_of_a_chinese_lab_get_chinese_words(labs):
    (error,) = map(str, notebook_errors())
    place = f"docs/zh/labs/lab.ipynb:{line_of(labs[1], 'SITE')}"
    assert error.startswith(f"{place}: this cell differs from its translation")
    assert error.endswith("then run scripts/translated --code")
    english = labs[0].read_text(encoding="utf-8")
    update_labs()
    code, text = notebooks.read_cells(labs[1])
    assert code.source == CODE.replace("heads", "头").replace("of the model", "模型的")
    assert text.source == TEXT.replace('"""Answers."""', '"""答案。"""')
    assert labs[0].read_text(encoding="utf-8") == english
    assert errors() == [*notebook_errors()] == []
