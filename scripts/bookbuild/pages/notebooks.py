"""The labs: notebooks without outputs, converted to Markdown pages.

Each language has its own notebook, with the same code; bookbuild.run.notebooks runs it.
"""

import functools
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

LABELS = {  # of a code block, of a task, of an output, of the two buttons
    "en": ("Cell {}", "Cell {}: your turn", "Output", "Download the notebook", "Open in Colab"),
    "zh": ("单元格 {}", "单元格 {}：轮到你了", "输出", "下载笔记本", "在 Colab 中打开"),
}
COLAB = "https://colab.research.google.com/github"
GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)")
SITE_ASSIGNMENT = re.compile(r'^SITE = "(.*)"$', re.M)
DETAILS_SUMMARY = re.compile(r"<details><summary>(.*)</summary>")
ANSWER = re.compile(r"(?:Answer|答案) \d")
FENCE = re.compile(r"`{3,}")


class Cell(NamedTuple):
    """A cell of a notebook; line is the line in the file where its source starts."""

    line: int
    kind: str  # markdown or code
    id: str
    source: str
    tags: list[str]

    def lines(self) -> Iterator[tuple[str, int]]:
        """Each line of the source, with its number in the file."""
        return ((text, line) for line, text in enumerate(self.source.split("\n"), self.line))


def canonical_json(notebook: dict[str, Any]) -> str:
    """The notebook as Jupyter writes it, with each line of source on a line of its own."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook in canonical JSON."""
    return parse_cells(path, path.stat().st_mtime_ns)


@functools.cache
def parse_cells(path: Path, modified_ns: int) -> list[Cell]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    lines = enumerate(canonical_json(notebook).splitlines(), 2)
    source_lines = [number for number, line in lines if line.startswith('   "source":')]
    return [
        Cell(
            line,
            cell["cell_type"],
            cell["id"],
            "".join(cell["source"]),
            cell["metadata"].get("tags", []),
        )
        for line, cell in zip(source_lines, notebook["cells"], strict=True)
    ]


def code_cells(path: Path) -> list[Cell]:
    return [cell for cell in read_cells(path) if cell.kind == "code"]


def joined_code(path: Path) -> str:
    """The source of all code cells as one Python file."""
    return "\n\n".join(cell.source for cell in code_cells(path)) + "\n"


def site_url(path: Path) -> str:
    """The site's address in the notebook's SITE = "..."; notebook_errors reports a missing one."""
    match = SITE_ASSIGNMENT.search(joined_code(path))
    return match[1] if match else "no address"


def markdown_page(
    path: Path, language: str, outputs: Sequence[str] = ()
) -> Iterator[tuple[str, int]]:
    """The page's Markdown, each line with its line number in the notebook.

    outputs has the Markdown of what each code cell shows.
    """
    meta = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("book", {})
    front_matter = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in meta.items()
    ]
    yield from ((line, 1) for line in ("---", *front_matter, "---"))
    code_title, task_title, output_title, *_ = LABELS[language]
    number = 0
    for cell in read_cells(path):
        yield "", cell.line
        if cell.kind == "markdown":
            yield from convert_markdown_cell(cell, site_url(path))
            continue
        title = (task_title if "task" in cell.tags else code_title).format(number + 1)
        yield f'```python title="{title}"', cell.line
        yield from cell.lines()
        shown = "".join(outputs[number : number + 1]).replace('title=""', f'title="{output_title}"')
        yield from ((text, cell.line) for text in ("```", *shown.splitlines()))
        number += 1


def convert_markdown_cell(cell: Cell, site: str) -> Iterator[tuple[str, int]]:
    """The cell's lines with anchors, folded blocks and links in the syntax of the book."""
    indent, in_fence = "", False
    for text, line in cell.lines():
        in_fence ^= bool(FENCE.match(text))
        summary = DETAILS_SUMMARY.fullmatch(text)
        if summary and not in_fence:
            kind = "success" if ANSWER.match(summary[1]) else "note"
            text, indent = f'??? {kind} "{summary[1]}"', "    "
        elif text == "</details>" and not in_fence:
            text, indent = "", ""
        elif text.startswith("##") and not in_fence:
            text = f"{text} {{ #{cell.id} }}"
        elif text:
            text = indent + with_relative_links(text, site)
        yield text, line


def with_relative_links(text: str, site: str) -> str:
    """Links to the site's pages as relative links between source files, which MkDocs checks."""

    def relative(match: re.Match[str]) -> str:
        return f"]({posixpath.relpath(match[1] + '.md', 'labs')}{match[2] or ''})"

    return re.sub(rf"\]\({re.escape(site)}(?:zh/)?([\w/-]+)/(#[\w-]+)?\)", relative, text)


def with_notebook_links(markdown: str, name: str, language: str, repository: str) -> str:
    """The page with buttons to download the notebook and to open it in Colab below its title.

    name is the file name of the notebook. Colab opens notebooks on GitHub only.
    """
    *_, download, colab = LABELS[language]
    links = f'[{download}]({name}){{ .md-button download="{name}" data-search-exclude="" }}'
    if github := GITHUB.match(repository):
        url = f"{COLAB}/{github[1]}/blob/main/docs/{language}/labs/{name}"
        links += f' [{colab}]({url}){{ .md-button data-search-exclude="" }}'
    return re.sub(r"^# .*\n", lambda title: f"{title[0]}\n{links}\n", markdown, count=1, flags=re.M)


def notebook_errors(
    translations: list[Path], code_only: bool = False
) -> Iterator[tuple[Path, int, str]]:
    """Errors of one notebook in all its languages: file, line and message.

    With code_only, the languages must have the same code cells, but not the same Markdown cells.
    """
    compared = code_cells if code_only else read_cells
    first = translations[0]
    for path in translations:
        text = path.read_text(encoding="utf-8")
        notebook = json.loads(text)
        if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook["cells"]):
            yield path, 1, "the notebook contains outputs; clear them before you save it"
        elif text != canonical_json(notebook):
            yield path, 1, "the notebook is not formatted as by Jupyter; open and save it there"
        ids = [cell.id for cell in read_cells(path)]
        for id in {id for id in ids if ids.count(id) > 1}:
            yield path, 1, f"duplicate cell id {id}; rename one of them"
        if not SITE_ASSIGNMENT.search(joined_code(path)):
            yield path, 1, 'no code cell sets the site\'s address; add SITE = "https://…/"'
        for cell in read_cells(path):
            anchor = f"{{ #{cell.id} }}"
            anchors = [line for line, _ in convert_markdown_cell(cell, "") if anchor in line]
            if cell.kind == "markdown" and len(anchors) > 1:
                message = "the cell has two headings, but its id can be the anchor of only one"
                yield path, cell.line, f"{message}; split the cell"
        for expected, cell in zip_longest(compared(first), compared(path)):
            if shared_content(expected) != shared_content(cell):
                message = "this cell differs from its translation in kind, id, tags or code"
                yield path, cell.line if cell else 1, f"{message}; make both the same"
                break


def shared_content(cell: Cell | None) -> object:
    """The parts of a cell that must be the same in all languages."""
    return cell and (cell.kind, cell.id, cell.tags, cell.source if cell.kind == "code" else "")
