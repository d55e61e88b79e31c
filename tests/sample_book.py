"""A book of two small pages with one snippet, one example and one figure.

Tests of the build break one file of it and check the error message.
"""

import re
import shutil
import sys
from pathlib import Path

import pytest

from bookbuild.check.mark_translated import mark_translated
from bookbuild.mkdocs_site import markdown_extension
from bookbuild.pages import contents, fresh, paths
from bookbuild.pages.files import line_number
from bookbuild.pages.labs import notebooks
from built_pages import ROOT

PAGE_TEMPLATE = """\
---
description: {about}
---

# {title}

## {section} {{ #section }}

$x^2$ {{{{ chapter/say: number }}}} [{other}](other.md#there)

```python title="tiny.py"
--8<-- "tiny.py:first"
```

```python title="{input}"
--8<-- "examples/chapter/say.py"
```

```text title="{output}"
--8<-- "outputs/examples/chapter/say.txt"
```

![{alt}](figures/chapter/line.svg)
"""

FILES = {
    "docs/en/index.md": PAGE_TEMPLATE.format(
        **{"about": "A small book.", "title": "Small", "section": "Section", "other": "other"},
        **{"input": "Input", "output": "Output", "alt": "A line that rises."},
    ),
    "docs/zh/index.md": PAGE_TEMPLATE.format(
        **{"about": "一本小书。", "title": "小书", "section": "一节", "other": "另一页"},
        **{"input": "输入", "output": "输出", "alt": "一条上升的线。"},
    ),
    "docs/en/other.md": "---\ndescription: Other.\n---\n\n# Other\n\n## A token { #there }\n",
    "docs/zh/other.md": "---\ndescription: 其他。\n---\n\n# 其他\n\n## 一个词元 { #there }\n",
    "docs/glossary.yml": (
        "- {en: token, zh: 词元, anchor: token, where: other.md#there, "
        "en_meaning: a piece, zh_meaning: 一段}\n"
    ),
    "docs/search.yml": "- {where: other.md, en: piece, zh: 片段}\n",
    "docs/references.bib": "",
    "tests/claims/test_other.py": (
        '@claim("other#there", kind="mathematics")\ndef test_it_is_so():\n    pass\n'
    ),
    "snippets/tiny.py": """\
# --8<-- [start:first]
def double(x):
    return 2 * x


# --8<-- [end:first]
""",
    "snippets/examples/chapter/say.py": (
        'from tiny import double\n\nprint("number:", double(21))\n'
    ),
    "scripts/figures/chapter.py": """\
from figures.style import canvas, figure
from tiny import double


@figure(en={"x": "position"}, zh={"x": "位置"})
def line(label):
    fig, ax = canvas()
    ax.plot([0, double(1)])
    ax.set_xlabel(label["x"])
    return fig
""",
}


# The plugin of the labs, which takes longer to import than a sample book takes to build.
JUPYTER = re.compile(r"^  mkdocs-jupyter:.*\n(?:    .*\n)+", re.M)


def notebook_cell(kind: str, id: str, source: str, **metadata) -> dict:
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": source.splitlines(True)}
    return made if kind == "markdown" else made | {"execution_count": None, "outputs": []}


def write_notebook(path: Path, *cells: dict) -> Path:
    about = {"book": {"description": "A lab."}}
    notebook = {"cells": [*cells], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(exist_ok=True)
    path.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    return path


def add_lab(folder: Path, code: str, *cells: dict) -> Path:
    """Add a lab with a cell of code to a sample book, and the plugin that executes it."""
    change(folder / "mkdocs.yml", "  - other.md\n", "  - other.md\n  - labs/lab.md\n")
    plugin = JUPYTER.search((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert plugin
    change(folder / "mkdocs.yml", "\nplugins:\n", f"\nplugins:\n{plugin[0]}")
    for language, title in (("en", "# Lab\n"), ("zh", "# 实验\n")):
        lab = folder / "docs" / language / "labs" / "lab.ipynb"
        top = notebook_cell("markdown", "top", title)
        write_notebook(lab, top, notebook_cell("code", "c", code), *cells)
    with pytest.MonkeyPatch.context() as patch:
        set_book_paths(folder, patch)
        mark_translated("labs/lab")
    return folder / "docs/en/labs/lab.ipynb"


def make_sample_book(folder: Path) -> Path:
    """Write the sample book with the real scripts and settings; mark its pages as translated."""
    folder = folder.resolve()
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in (ROOT / "scripts").iterdir():
        if path.is_file():
            shutil.copy(path, folder / "scripts")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scripts/bookbuild", folder / "scripts/bookbuild", ignore=ignored)
    for name in ("style", "svg", "diagram"):
        shutil.copy(ROOT / f"scripts/figures/{name}.py", folder / "scripts/figures")
    for name in (*fresh.LOCK_FILES, "mkdocs.zh.yml"):
        shutil.copy(ROOT / name, folder)
    for name in ("node_modules", "overrides"):
        (folder / name).symlink_to(ROOT / name)
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = "nav:\n  - index.md\n  - other.md\n"
    text = JUPYTER.sub("", re.sub(r"^nav:\n(?: .*\n)+", pages, text, flags=re.M))
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        set_book_paths(folder, patch)
        for name in ("index", "other"):
            mark_translated(name)
    return folder


def set_book_paths(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make bookbuild read this folder instead of the repository."""
    patch.setattr(paths, "ROOT", folder)
    for name in ("docs", "snippets", "scripts"):
        patch.setattr(paths, name.upper(), folder / name)
    patch.setattr(paths, "CLAIMS", folder / "tests" / "claims")
    patch.setattr(paths, "GENERATED", folder / ".generated")
    patch.setattr(paths, "DOWNLOADS", folder / ".generated" / "downloads")


def module_command(folder: Path, name: str) -> list[str]:
    """The command that runs a module of the package bookbuild in a folder's scripts/."""
    return ["env", f"PYTHONPATH={folder / 'scripts'}", sys.executable, "-m", f"bookbuild.{name}"]


def expand(text: str, language: str = "en") -> str:
    """The text of the first page of the sample book with its values and includes."""
    options = dict(contents.settings(language)["markdown_extensions"]["pymdownx.snippets"])
    options |= {"base_path": [paths.ROOT / name for name in options["base_path"]]}
    options |= {"check_paths": True}
    own = {"language": language, "page": "index.md"}
    settings = {"pymdownx.snippets": options, markdown_extension.__name__: own}
    return markdown_extension.expanded_text(text, settings)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name} contains this text {text.count(old)} times: {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def line_of(path: Path, piece: str) -> int:
    """The number of the first line that contains the piece."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return line_number(text, text.index(piece))
