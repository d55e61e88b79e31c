"""A page that is marked as behind its translation shows a note, and no check fails."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import sample_book
from bookbuild.check.mark_translated import mark_pending, mark_translated
from bookbuild.check.translation import notebook_errors, translation_errors
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


@pytest.mark.parametrize(
    ("name", "changed"), [("index", ENGLISH_PAGE), ("docs/en/index.md", CHINESE_PAGE)]
)
def test_the_unchanged_page_is_marked_until_it_is_reviewed(sample_folder, changed, name):
    english, chinese = ENGLISH_PAGE.text, CHINESE_PAGE.text
    old, behind = ENGLISH_PAGE.digest(), changed.translation
    append_text(changed.path, "\n## New { #new }\n")
    for _ in range(2):
        assert mark_pending(name) == behind
    assert behind.is_pending and not changed.is_pending
    assert error_messages() == []
    assert behind.anchors() == {"section", "new"} and behind.own_anchors() == {"section"}
    append_text(behind.path, "\n## New { #new }\n")
    mark_translated(name)
    assert ENGLISH_PAGE.text == english + "\n## New { #new }\n"
    assert CHINESE_PAGE.text == chinese.replace(old, ENGLISH_PAGE.digest()) + "\n## New { #new }\n"
    assert error_messages() == []


def test_after_a_review_the_page_must_be_named(sample_folder):
    """Else the English page would be marked as behind although nothing is."""
    before = ENGLISH_PAGE.text, CHINESE_PAGE.text
    append_text(ENGLISH_PAGE.path, "\nMore.\n")
    mark_translated("index")
    reviewed = ENGLISH_PAGE.text, CHINESE_PAGE.text
    status, output = run_translated(sample_folder, "--pending", "index")
    assert status == 2 and before != reviewed == (ENGLISH_PAGE.text, CHINESE_PAGE.text)
    problem = "docs/en/index.md has not changed since docs/zh/index.md was reviewed against it"
    assert f"{problem}; name the page that is behind: en/index or zh/index\n" in output
    assert run_translated(sample_folder, "--pending", "zh/index")[0] == 0
    assert CHINESE_PAGE.is_pending and not ENGLISH_PAGE.is_pending


def test_a_pending_lab_is_marked_in_its_metadata_and_needs_the_same_code_only(sample_folder):
    chinese = SourcePage("zh", "labs/lab.md")
    lab = sample_book.add_lab(sample_folder, 'SITE = "https://transformer.example/"\nprint(1 + 1)')
    notebook = json.loads(lab.read_text(encoding="utf-8"))
    more = {"cell_type": "markdown", "id": "more", "metadata": {}, "source": ["More.\n"]}
    notebook["cells"].append(more)
    lab.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    assert [*notebook_errors()]
    assert mark_pending("labs/lab") == chinese
    assert json.loads(chinese.path.read_text())["metadata"]["book"]["translation"] == "pending"
    assert [*notebook_errors()] == error_messages() == []
    change(lab, "print(1 + 1)", "print(1 + 2)")
    (error,) = notebook_errors()
    assert str(error).startswith("docs/zh/labs/lab.ipynb:")
    chinese.path.unlink()  # a new lab is copied, because it runs in both languages
    assert mark_pending("labs/lab") == chinese
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
    message = f"index.md translated: {ENGLISH_PAGE.digest()}\n"
    assert run_translated(sample_folder, "index.md") == (0, message)
    assert run_translated(sample_folder, "--list") == (0, "")


def test_bad_arguments_give_the_usage_and_status_2(sample_folder):
    status, output = run_translated(sample_folder, "--pending", "nonesuch")
    assert status == 2
    assert output.startswith("usage: scripts/translated ")


# In a strict build


def test_a_strict_build_accepts_pending_pages_and_shows_a_note(sample_folder):
    """A changed page in each direction, and a page that is new in one language."""
    example = sample_folder / "snippets/examples/chapter/new.py"
    example.write_text('print("new:", 1)\n', encoding="utf-8")
    append_text(ENGLISH_PAGE.path, NEW_SECTION)
    append_text(sample_folder / "docs/zh/other.md", "\n## 新的一节 { #more }\n")
    append_text(sample_folder / "docs/zh/other.md", "\n参见[新的一节](index.md#new)。\n")
    for name in ("index", "en/other"):
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
    for name in ("index.html", "zh/other/index.html"):
        assert "admonition warning" not in (site / name).read_text(encoding="utf-8")
