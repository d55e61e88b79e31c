"""Reads the labs: notebooks without outputs, with the same code in each language's words."""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, zip_longest
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

from bookbuild.pages.files import read_text

LABELS = {  # of a code block, of a task, of an output, of the two buttons
    "en": ("Cell {}", "Cell {}: your turn", "Output", "Download the notebook", "Open in Colab"),
    "zh": ("单元格 {}", "单元格 {}：轮到你了", "输出", "下载笔记本", "在 Colab 中打开"),
}
SITE_ASSIGNMENT = re.compile(r'^SITE = "(.*)"$', re.M)
ANSWER = re.compile(r"^<details><summary>(.*)</summary>(.*?)^</details>", re.M | re.S)
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
FENCED_CODE = re.compile(r"^```python\n(.*?)\n```$", re.M | re.S)


class Cell(NamedTuple):
    """A cell of a notebook; line is the line in the file where its source starts."""

    line: int
    kind: str  # markdown or code
    id: str
    tags: list[str]
    source: str


def canonical_json(notebook: dict[str, Any]) -> str:
    """The notebook as Jupyter writes it, with each line of source on a line of its own."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


@functools.lru_cache(maxsize=32)
def parse_cells(text: str) -> list[Cell]:
    """The cells of a notebook in canonical JSON."""
    notebook, cells = json.loads(text), []
    numbered = enumerate(canonical_json(notebook).splitlines(), 2)
    lines = [number for number, line in numbered if line.startswith('   "source":')]
    for line, cell in zip(lines, notebook["cells"], strict=True):
        tags, source = cell["metadata"].get("tags", []), "".join(cell["source"])
        cells.append(Cell(line, cell["cell_type"], cell["id"], tags, source))
    return cells


def read_cells(path: Path) -> list[Cell]:
    return parse_cells(read_text(path))


def code_cells(path: Path) -> list[Cell]:
    return [cell for cell in read_cells(path) if cell.kind == "code"]


def joined_code(path: Path) -> str:
    """The source of all code cells as one Python file."""
    return "\n\n".join(cell.source for cell in code_cells(path)) + "\n"


def code_parts(cell: Cell) -> list[tuple[int, str]]:
    """The code of a cell, or of the answers in its text, with the lines where they start."""
    if cell.kind == "code":
        return [(cell.line, cell.source)]
    matches = FENCED_CODE.finditer(cell.source)
    return [(cell.line + cell.source.count("\n", 0, each.start(1)), each[1]) for each in matches]


def with_code(cell: Cell, sources: Iterable[str]) -> Cell:
    """The cell with other code, if there is some, in place of its code or of its answers'."""
    rest = iter(sources)
    if cell.kind == "code":
        return cell._replace(source=next(rest, cell.source))
    text = FENCED_CODE.sub(lambda old: f"```python\n{next(rest, old[1])}\n```", cell.source)
    return cell._replace(source=text)


def python_source(path: Path) -> str:
    """All code as one Python file, with each line where the notebook has it."""
    lines: list[str] = []
    for cell in read_cells(path):
        for start, code in code_parts(cell):
            lines += [""] * (start - 2 - len(lines))
            lines += ["# --8<-- a cell or an answer", *code.split("\n")]
    return "\n".join(lines) + "\n"


def site_url(path: Path) -> str:
    """The site's address in the notebook's SITE = "..."; notebook_errors reports a missing one."""
    match = SITE_ASSIGNMENT.search(joined_code(path))
    return match[1] if match else "no address"


def markdown_page(
    path: Path, language: str, outputs: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """The page's Markdown with what its code cells show; each line with its line in the file."""
    meta = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("book", {})
    items = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in meta.items()]
    yield from ((line, 1) for line in ("---", *items, "---"))
    code_title, task_title, output_title, *_ = LABELS[language]
    number, site = 0, site_url(path)
    for cell in read_cells(path):
        text, line = markdown_source(cell, site), cell.line
        if cell.kind == "code":
            shown = "".join(outputs[number : number + 1])
            number, line = number + 1, line - 1
            title = (task_title if "task" in cell.tags else code_title).format(number)
            text = f'```python title="{title}"\n{cell.source}\n```\n{shown}'.rstrip()
            text = text.replace('\n```text title=""\n', f'\n```text title="{output_title}"\n')
        yield from zip(["", *text.split("\n")], count(line - 1))


def markdown_source(cell: Cell, site: str) -> str:
    """The source with an anchor, folded answers, and links to pages in the syntax of the book."""
    link = rf"\]\({re.escape(site)}(?:zh/)?([\w/-]+)/(#[\w-]+)?\)"
    text = re.sub(link, r"](../\1.md\2)", cell.source)
    text = re.sub(r"\A##.*", rf"\g<0> {{ #{cell.id} }}", text)
    return ANSWER.sub(lambda answer: f'??? success "{answer[1]}"{indent(answer[2], "    ")}', text)


def with_notebook_links(markdown: str, name: str, language: str, repository: str) -> str:
    """The page with two buttons below its title; Colab opens only notebooks on GitHub."""
    *_, download, colab = LABELS[language]
    links = f'[{download}]({name}){{ .md-button download="{name}" data-search-exclude="" }}'
    if repository.startswith("https://github.com/"):
        url = repository.rstrip("/").replace("github.com", "colab.research.google.com/github")
        url += f"/blob/main/docs/{language}/labs/{name}"
        links += f' [{colab}]({url}){{ .md-button data-search-exclude="" }}'
    return re.sub(r"^# .*\n", lambda title: f"{title[0]}\n{links}\n", markdown, count=1, flags=re.M)


def notebook_errors(
    path: Path, translation: list[Cell], code_only: bool
) -> Iterator[tuple[int, str]]:
    """The line and message of each error; with code_only, the Markdown cells may differ."""
    text, ids = path.read_text(encoding="utf-8"), set()
    notebook = json.loads(text)
    if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"]):
        yield 1, "the notebook contains outputs; clear them before you save it"
    elif text != canonical_json(notebook):
        yield 1, "the notebook is not formatted as by Jupyter; open and save it there"
    if not SITE_ASSIGNMENT.search(joined_code(path)):
        yield 1, 'no code cell sets the site\'s address; add SITE = "https://…/"'
    for cell in read_cells(path):
        if cell.id in ids:
            yield cell.line, f"duplicate cell id {cell.id}; rename one of them"
        ids.add(cell.id)
        if cell.kind == "markdown" and re.search(r"^##", FENCED.sub("", cell.source[1:]), re.M):
            message = "the heading below the cell's first line gets no anchor; split the cell"
            yield cell.line, message
    compared = [
        [cell for cell in cells if cell.kind == "code" or not code_only]
        for cells in (translation, read_cells(path))
    ]
    for expected, cell in zip_longest(*compared):
        if shared_content(expected) != shared_content(cell):
            message = "this cell differs from its translation in kind, id, tags or code"
            hint = "make both the same, then run scripts/translated --code"
            yield cell.line if cell else 1, f"{message}; {hint}"
            break


def shared_content(cell: Cell | None) -> object:
    """The parts of a cell that must be the same in all languages, except for words in code."""
    return cell and (cell.kind, cell.id, cell.tags, [code for _, code in code_parts(cell)])
