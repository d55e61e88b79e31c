"""Every list of pages and every chapter number comes from the nav of mkdocs.yml."""

import json
import subprocess
from pathlib import Path

import pytest

from bookbuild.check.mark_translated import mark_translated
from bookbuild.generated import contents_tables
from bookbuild.pages import contents
from bookbuild.pages.page import SourcePage
from fault_injection import build
from sample_book import change, module_command

README = "# Book\n\n<!-- contents -->\n<!-- end of contents -->\n"
NAV = "  - Chapters:\n      - other.md\n      - last.md\n"
PAGE = """\
---
description: {description}
question: {question}
---

# {title}

```python title="{input}"
--8<-- "examples/middle/add.py"
```

```text title="{output}"
--8<-- "outputs/examples/middle/add.txt"
```

![{alt}](figures/middle/bar.svg)

## {section} {{ #sum }}

{{{{ middle/add: sum }}}}

## {quiz} {{ #quiz }}

--8<-- "quizzes/middle.md"
"""
CHOICE = {"en": "One.", "zh": "一。", "en_why": "It is.", "zh_why": "没错。"}
QUESTION = {
    **{"en": "How many?", "zh": "多少？"},
    "choices": [CHOICE | {"right": True}, CHOICE, CHOICE],
}
NEW_FILES = {
    "docs/en/middle.md": PAGE.format(
        **{"description": "In between.", "question": "What is in between?", "title": "Middle"},
        **{"input": "Input", "output": "Output", "alt": "A bar.", "section": "Sum", "quiz": "Quiz"},
    ),
    "docs/zh/middle.md": PAGE.format(
        **{"description": "中间。", "question": "中间是什么？", "title": "中间"},
        **{"input": "输入", "output": "输出", "alt": "一根柱。", "section": "和", "quiz": "测验"},
    ),
    "docs/quizzes/middle.yml": json.dumps([QUESTION] * 5, ensure_ascii=False),
    "snippets/examples/middle/add.py": 'print("sum:", 1 + 2)\n',
    "scripts/figures/middle.py": (
        "from figures.style import canvas, figure\n\n\n"
        '@figure(en={"x": "sum"}, zh={"x": "和"})\n'
        "def bar(label):\n    fig, ax = canvas()\n    ax.bar([0], [3])\n"
        '    ax.set_xlabel(label["x"])\n    return fig\n'
    ),
    "tests/claims/test_middle.py": (
        '@claim("middle#sum", kind="mathematics")\ndef test_one_and_two_are_three():\n    pass\n'
    ),
}


def write_page(folder: Path, name: str, **texts: tuple[str, str]) -> None:
    for language, (title, question) in texts.items():
        text = f"---\ndescription: {question}\nquestion: {question}\n---\n\n# {title}\n"
        (folder / f"docs/{language}/{name}.md").write_text(text, encoding="utf-8")


def source_files(folder: Path) -> dict[str, bytes]:
    """What the author of a book writes: its sources, without scripts and outputs."""
    files = [folder / "README.md", *folder.glob("mkdocs*.yml")]
    for part in ("docs", "snippets", "scripts/figures", "tests"):
        files += [path for path in (folder / part).rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if "__pycache__" not in path.parts
    }


@pytest.fixture
def chapters(sample_folder: Path) -> Path:
    """The sample book with two numbered chapters and a README."""
    change(sample_folder / "mkdocs.yml", "  - other.md\n", NAV)
    change(sample_folder / "mkdocs.yml", "    - After 2017\n", "    - Chapters\n")
    with open(sample_folder / "mkdocs.zh.yml", "a", encoding="utf-8") as config:
        config.write("\nextra:\n  nav_titles: {Chapters: 各章}\n")
    write_page(sample_folder, "last", en=("Last", "What is last?"), zh=("最后", "最后是什么？"))
    for language, question in (("en", "What else?"), ("zh", "还有什么？")):
        page = sample_folder / f"docs/{language}/other.md"
        change(page, "\n---\n\n", f"\nquestion: {question}\n---\n\n")
    (sample_folder / "README.md").write_text(README, encoding="utf-8")
    for name in ("other", "last"):
        mark_translated(name)
    contents_tables.update_readme()
    return sample_folder


def test_chapters_are_numbered_in_the_order_of_the_nav(chapters):
    names = ("index.md", "other.md", "last.md")
    assert [contents.chapter_number(name) for name in names] == [None, 1, 2]
    assert [SourcePage("zh", name).title for name in names] == ["小书", "1. 其他", "2. 最后"]


def test_the_home_page_lists_the_question_of_each_page(chapters):
    assert contents_tables.home_table("zh").splitlines()[2:] == [
        "| **各章** | |",
        "| [1. 其他](other.md) | 还有什么？ |",
        "| [2. 最后](last.md) | 最后是什么？ |",
    ]


def test_a_page_without_a_question_is_reported(chapters):
    change(chapters / "docs/zh/last.md", "question: ", "ask: ")
    (error,) = contents_tables.question_errors()
    assert str(error).startswith("docs/zh/last.md:1: has no question; write the question")


@pytest.mark.slow
def test_a_new_chapter_in_between_needs_its_own_files_and_one_line_of_the_nav(chapters, mkdocs):
    """As CONTRIBUTING describes: example, figure, claim and quiz, in both languages."""
    before = source_files(chapters)
    change(chapters / "mkdocs.yml", "      - last.md\n", "      - middle.md\n      - last.md\n")
    for name, text in NEW_FILES.items():
        path = chapters / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for module, *arguments in (("localize",), ("check.mark_translated", "middle")):
        subprocess.run([*module_command(chapters, module), *arguments], check=True)
    status, output = build(chapters, mkdocs)
    assert status and "README.md:1: its generated parts have changed; commit it" in output, output
    status, output = build(chapters, mkdocs)
    assert status == 0, output
    after = source_files(chapters)
    assert {name for name in before if after[name] != before[name]} == {"README.md", "mkdocs.yml"}
    places = after.keys() - before.keys() | {"mkdocs.yml"}
    assert places >= {*NEW_FILES} and len(places) <= 10
    for folder, titles in (("", ("Middle", "Last")), ("zh/", ("中间", "最后"))):
        for number, (name, title) in enumerate(zip(("middle", "last"), titles, strict=True), 2):
            page = (chapters / f"site/{folder}{name}/index.html").read_text(encoding="utf-8")
            assert f">{number}. {title}<" in page
    assert "[2. Middle](docs/en/middle.md), [3. Last]" in after["README.md"].decode()
