"""A page that is marked as behind its translation shows a note, and no check fails."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bookbuild.check.pending import mark_pending, mark_translated, set_meta
from bookbuild.check.translation import notebook_errors, translation_errors
from bookbuild.pages import paths
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import SourcePage
from built_pages import ROOT
from fault_injection import build
from sample_book import change

ENGLISH_PAGE, CHINESE_PAGE = SourcePage("en", "index.md"), SourcePage("zh", "index.md")
NEW_SECTION = """
## New { #new }

See [above](#section) and [the other page](other.md#there).

```python title="Input"
--8<-- "examples/chapter/new.py"
```

```text title="Output"
--8<-- "outputs/examples/chapter/new.txt"
```
"""


def append_text(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def error_messages() -> list[str]:
    return [str(error) for error in translation_errors()]


# Marking


@pytest.mark.parametrize("name", ["index", "index.md", "docs/en/index.md", "docs/zh/index.md"])
def test_a_page_is_given_by_its_name_or_its_path(sample_folder, name):
    append_text(ENGLISH_PAGE.path, NEW_SECTION)
    assert mark_pending(name) == CHINESE_PAGE


def test_the_chinese_page_is_behind_when_the_english_page_has_changed(sample_folder):
    append_text(ENGLISH_PAGE.path, NEW_SECTION)
    assert len(error_messages()) == 1
    assert mark_pending("index") == CHINESE_PAGE
    assert CHINESE_PAGE.is_pending and not ENGLISH_PAGE.is_pending
    assert error_messages() == []


def test_the_english_page_is_behind_when_only_the_chinese_page_has_changed(sample_folder):
    append_text(CHINESE_PAGE.path, "\n## 新的一节 { #new }\n")
    assert mark_pending("index") == ENGLISH_PAGE
    assert ENGLISH_PAGE.is_pending and not CHINESE_PAGE.is_pending
    assert error_messages() == []


def test_marking_a_pending_page_again_changes_nothing(sample_folder):
    append_text(CHINESE_PAGE.path, "\n## 新的一节 { #new }\n")
    mark_pending("index")
    before = ENGLISH_PAGE.text, CHINESE_PAGE.text
    assert mark_pending("index") == ENGLISH_PAGE
    assert (ENGLISH_PAGE.text, CHINESE_PAGE.text) == before


@pytest.mark.parametrize("changed", [ENGLISH_PAGE, CHINESE_PAGE], ids=["English", "Chinese"])
def test_a_review_removes_the_mark_and_changes_nothing_else(sample_folder, changed):
    english, chinese = ENGLISH_PAGE.text, CHINESE_PAGE.text
    old = ENGLISH_PAGE.digest()
    append_text(changed.path, "\nMore.\n")
    mark_pending("index")
    append_text(changed.translation.path, "\nMore.\n")
    mark_translated("index")
    assert ENGLISH_PAGE.text == english + "\nMore.\n"
    assert CHINESE_PAGE.text == chinese.replace(old, ENGLISH_PAGE.digest()) + "\nMore.\n"
    assert error_messages() == []


def test_a_page_without_front_matter_can_be_marked_and_cleared(sample_folder):
    ENGLISH_PAGE.path.write_text("# One\n", encoding="utf-8")
    set_meta(ENGLISH_PAGE, "translation", "pending")
    assert ENGLISH_PAGE.text == "---\ntranslation: pending\n---\n\n# One\n"
    set_meta(ENGLISH_PAGE, "translation", None)
    assert ENGLISH_PAGE.text == "\n# One\n"


def test_the_word_pending_in_the_text_does_not_mark_a_page(sample_folder):
    append_text(ENGLISH_PAGE.path, "\n---\ntranslation: pending\n---\n")
    assert not ENGLISH_PAGE.is_pending


def test_a_pending_page_has_the_anchors_of_its_translation(sample_folder):
    append_text(ENGLISH_PAGE.path, NEW_SECTION)
    assert "new" not in CHINESE_PAGE.anchors()
    mark_pending("index")
    assert CHINESE_PAGE.anchors() == {"section", "new"}
    assert CHINESE_PAGE.own_anchors() == {"section"}


# Labs


@pytest.fixture
def lab(sample_folder) -> Path:
    """A lab of the sample book with one Markdown cell and one code cell."""
    cells = [
        {"cell_type": "markdown", "id": "top", "metadata": {}, "source": ["# Lab\n"]},
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "sum",
            "metadata": {},
            "outputs": [],
            "source": ['SITE = "https://transformer.example/"\n', "print(1 + 1)"],
        },
    ]
    meta = {"book": {"description": "A lab."}}
    notebook = {"cells": cells, "metadata": meta, "nbformat": 4, "nbformat_minor": 5}
    path = paths.DOCS / "en/labs/lab.ipynb"
    path.parent.mkdir()
    path.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    return path


def test_a_pending_lab_is_marked_in_its_metadata_and_needs_the_same_code_only(lab):
    chinese = SourcePage("zh", "labs/lab.md")
    chinese.path.parent.mkdir()
    shutil.copy(lab, paths.DOCS / "zh/labs/lab.ipynb")
    mark_translated("labs/lab")
    notebook = json.loads(lab.read_text(encoding="utf-8"))
    more = {"cell_type": "markdown", "id": "more", "metadata": {}, "source": ["More.\n"]}
    notebook["cells"].append(more)
    lab.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    assert [*notebook_errors()]
    assert mark_pending("labs/lab") == chinese
    assert json.loads(chinese.path.read_text())["metadata"]["book"]["translation"] == "pending"
    assert chinese.is_pending
    assert [*notebook_errors()] == []
    assert error_messages() == []
    change(lab, "print(1 + 1)", "print(1 + 2)")
    (error,) = notebook_errors()
    assert str(error).startswith("docs/zh/labs/lab.ipynb:")


def test_a_new_lab_is_copied_because_it_runs_in_both_languages(lab):
    assert mark_pending("labs/lab") == SourcePage("zh", "labs/lab.md")
    chinese = SourcePage("zh", "labs/lab.md")
    assert chinese.is_notebook and chinese.is_pending
    assert error_messages() == [*map(str, notebook_errors())] == []


# Command


def run_translated(folder: Path, *arguments: str) -> tuple[int, str]:
    """Call scripts/translated of the sample book in this virtual environment."""
    if not (folder / ".venv").exists():
        (folder / ".venv").symlink_to(ROOT / ".venv")
    command = [folder / "scripts/translated", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    return done.returncode, done.stdout + done.stderr


def test_the_command_marks_lists_and_clears_pages(sample_folder):
    append_text(ENGLISH_PAGE.path, "\nMore.\n")
    message = "docs/zh/index.md is marked as behind docs/en/index.md\n"
    assert run_translated(sample_folder, "--pending", "index") == (0, message)
    assert run_translated(sample_folder, "--list") == (0, "docs/zh/index.md\n")
    assert run_translated(sample_folder, "index.md") == (
        0,
        f"index.md translated: {ENGLISH_PAGE.digest()}\n",
    )
    assert run_translated(sample_folder, "--list") == (0, "")


@pytest.mark.parametrize(
    "arguments", [(), ("--pending",), ("nonesuch",), ("--pending", "nonesuch"), ("--what", "index")]
)
def test_bad_arguments_give_the_usage_and_status_2(sample_folder, arguments):
    status, output = run_translated(sample_folder, *arguments)
    assert status == 2
    assert output.startswith("usage: scripts/translated ")


# In a strict build


def test_a_strict_build_accepts_pending_pages_and_shows_a_note(sample_folder):
    """A changed page in each direction, and a page that is new in one language."""
    example = sample_folder / "snippets/examples/chapter/new.py"
    example.write_text('print("new:", 1)\n', encoding="utf-8")
    append_text(ENGLISH_PAGE.path, NEW_SECTION)
    append_text(sample_folder / "docs/zh/other.md", "\n## 新的一节 { #more }\n")
    (sample_folder / "docs/en/third.md").write_text(
        "---\ndescription: 'A third page: new.'\n---\n\n# Third\n\n## Part { #part }\n",
        encoding="utf-8",
    )
    change(sample_folder / "mkdocs.yml", "  - other.md\n", "  - other.md\n  - third.md\n")
    glossary = "- {en: third, zh: 第三, anchor: third, where: third.md#part, "
    append_text(
        sample_folder / "docs/glossary.yml", f"{glossary}en_meaning: a third, zh_meaning: 三}}\n"
    )
    append_text(sample_folder / "docs/zh/other.md", "\n参见[新的一节](index.md#new)。\n")
    for name in ("index", "other", "third"):
        mark_pending(name)
    status, output = build(sample_folder)
    assert status == 0, output
    site = sample_folder / "site"
    home = (site / "zh/index.html").read_text(encoding="utf-8")
    assert "本页落后于英文原文" in home
    assert '<a href="../">阅读英文原文</a>' in home
    assert '<span id="new"></span>' in home
    other = (site / "other/index.html").read_text(encoding="utf-8")
    assert "This page is behind its Chinese original" in other
    assert '<a href="../zh/other/">Read it in Chinese</a>' in other
    copy = (site / "other/index.md").read_text(encoding="utf-8")
    assert '<a href="../zh/other/">Read it in Chinese</a>' in copy
    third = (site / "zh/third/index.html").read_text(encoding="utf-8")
    assert "<h1" in third and "本页落后于英文原文" in third and 'id="part"' in third
    assert 'content="A third page: new."' in third
    for name in ("index.html", "third/index.html", "zh/other/index.html"):
        assert "admonition warning" not in (site / name).read_text(encoding="utf-8")
