"""The labs: notebooks without outputs, run once and made into Markdown pages.

Their code is the same in all languages. It runs here cell by cell in one
namespace; what a cell prints, and the value of its last line, stand below it.
Everything here takes a notebook's path and returns values.
"""

import functools
import json
import posixpath
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

TITLES = {  # of a block of code, and of what it prints
    "en": ("Cell {}", "Cell {}: your turn", "Output"),
    "zh": ("单元格 {}", "单元格 {}：轮到你了", "输出"),
}
LINKS = {  # above the first section
    "en": ("Download the notebook", "Open in Colab"),
    "zh": ("下载笔记本", "在 Colab 中打开"),
}
SITE = re.compile(r'^SITE = "(.*)"$', re.M)
FOLD = re.compile(r"<details><summary>(.*)</summary>")
ANSWER = re.compile(r"(?:Answer|答案) \d")
FENCE = re.compile(r"`{3,}")


class Cell(NamedTuple):
    """A cell of a notebook; line is that of its first line in the file."""

    line: int
    kind: str  # markdown, code
    id: str
    source: str
    tags: list[str]


Outputs = list[tuple[str, str]]  # what a cell shows: ("text" or "html", it)


def canonical_json(notebook: dict[str, Any]) -> str:
    """The notebook as Jupyter writes it, a line of source on a line of its own."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cells(path: Path) -> list[Cell]:
    return cells_at(path, path.stat().st_mtime_ns)


@functools.cache
def cells_at(path: Path, mtime: int) -> list[Cell]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    lines = enumerate(canonical_json(notebook).splitlines(), 2)
    places = [at for at, line in lines if line.startswith('   "source":')]
    return [
        Cell(
            place,
            cell["cell_type"],
            cell["id"],
            "".join(cell["source"]),
            cell["metadata"].get("tags", []),
        )
        for place, cell in zip(places, notebook["cells"], strict=True)
    ]


def code_cells(path: Path) -> list[Cell]:
    return [cell for cell in cells(path) if cell.kind == "code"]


def code(path: Path) -> str:
    """All of the code, as if it were one file."""
    return "\n\n".join(cell.source for cell in code_cells(path)) + "\n"


def cell_number(path: Path, line: int) -> int:
    """The number of the code cell that holds a line of the file."""
    return sum(cell.line <= line for cell in code_cells(path))


def site_url(path: Path) -> str:
    """The site's address, as the first code cell names it; faults() misses none."""
    match = SITE.search(code(path))
    return match[1] if match else "no address"


def page_lines(path: Path, language: str, shown: list[Outputs]) -> Iterator[tuple[str, int]]:
    """The page's Markdown, each line with the line of the notebook that it is from.

    Without outputs, as long as the notebook has not been run.
    """
    about = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("book", {})
    head = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in about.items()]
    yield from ((line, 1) for line in ("---", *head, "---"))
    number = 0
    for cell in cells(path):
        yield "", cell.line
        if cell.kind == "markdown":
            yield from markdown_lines(cell, site_url(path))
        else:
            outputs = shown[number] if number < len(shown) else []
            number += 1
            yield from code_lines(cell, language, number, outputs)


def markdown_lines(cell: Cell, site: str) -> Iterator[tuple[str, int]]:
    """Line for line: anchors, folded blocks and links as the book writes them."""
    indent, fenced = "", False
    for line, text in enumerate(cell.source.split("\n"), cell.line):
        fenced ^= bool(FENCE.match(text))
        fold = FOLD.fullmatch(text)
        if fold and not fenced:
            kind = "success" if ANSWER.match(fold[1]) else "note"
            text, indent = f'??? {kind} "{fold[1]}"', "    "
        elif text == "</details>" and not fenced:
            text, indent = "", ""
        elif text.startswith("##") and not fenced:
            text = f"{text} {{ #{cell.id} }}"
        elif text:
            text = indent + with_relative_links(text, site)
        yield text, line


def with_relative_links(text: str, site: str) -> str:
    """Links to the site's pages as MkDocs wants them, between files."""

    def relative(match: re.Match[str]) -> str:
        return f"]({posixpath.relpath(match[1] + '.md', 'labs')}{match[2] or ''})"

    return re.sub(rf"\]\({re.escape(site)}(?:zh/)?([\w/-]+)/(#[\w-]+)?\)", relative, text)


def code_lines(cell: Cell, language: str, number: int, shown: Outputs) -> Iterator[tuple[str, int]]:
    plain, task, output = TITLES[language]
    title = (task if "task" in cell.tags else plain).format(number)
    source = enumerate(cell.source.split("\n"), cell.line)
    yield f'```python title="{title}"', cell.line
    yield from ((text, line) for line, text in source)
    yield "```", cell.line
    for kind, what in shown:
        fence = (f'```text title="{output}"', "```")
        if kind == "html":
            fence = ('<div class="lab-output" tabindex="0" data-search-exclude>', "</div>")
            what = re.sub(r"\n\s*", "", what)
        for text in ("", fence[0], *what.split("\n"), fence[1]):
            yield text, cell.line


def with_links(markdown: str, name: str, language: str, repository: str) -> str:
    """The page with its links to the notebook below the title.

    name is that of the file, x.ipynb. Colab opens what lies on GitHub alone.
    """
    download, colab = LINKS[language]
    links = [f'[{download}]({name}){{ .md-button download="{name}" data-search-exclude="" }}']
    host, path = urlsplit(repository).netloc, urlsplit(repository).path.strip("/")
    if host == "github.com":
        file = f"{path}/blob/main/docs/{language}/labs/{name}"
        url = f"https://colab.research.google.com/github/{file}"
        links.append(f'[{colab}]({url}){{ .md-button data-search-exclude="" }}')
    title = re.search(r"^# .*\n", markdown, re.M)
    end = title.end() if title else 0
    return f"{markdown[:end]}\n{' '.join(links)}\n{markdown[end:]}"


def notebook_errors(paths: list[Path], code_only: bool = False) -> Iterator[tuple[Path, int, str]]:
    """Errors of one notebook in all its languages, each with file and line.

    With code_only, the languages must have the same code cells, but not the same Markdown cells.
    """
    compared = code_cells if code_only else cells
    first = paths[0]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        notebook = json.loads(text)
        if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"]):
            yield path, 1, "holds outputs: clear them before you save it"
        elif text != canonical_json(notebook):
            yield path, 1, "is not written as Jupyter writes it: open it there and save it"
        ids = [cell.id for cell in cells(path)]
        for id in {id for id in ids if ids.count(id) > 1}:
            yield path, 1, f"two cells have the id {id}"
        if not SITE.search(code(path)):
            yield path, 1, 'no code cell says where the site lies: SITE = "https://…/"'
        for cell in cells(path):
            texts = [text for text, _ in markdown_lines(cell, "")]
            anchors = [text for text in texts if text.endswith(f"{{ #{cell.id} }}")]
            if cell.kind == "markdown" and len(anchors) > 1:
                yield path, cell.line, "a cell has one heading, whose anchor is the cell's id"
        for one, other in zip_longest(compared(first), compared(path)):
            if shared(one) != shared(other):
                line = other.line if other else 1
                yield (
                    path,
                    line,
                    "this cell is not the twin's: in kind, id, tags or code; make both alike",
                )
                break


def shared(cell: Cell | None) -> object:
    """What a cell has in all languages."""
    return cell and (cell.kind, cell.id, cell.tags, cell.source if cell.kind == "code" else "")
