"""Renders the code of the labs in Chinese.

The Chinese notebooks have it in their files, because Colab opens them in the repository.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from bookbuild.localize.catalogs import lab_files
from bookbuild.localize.render import render_file
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.labs.notebooks import (
    Cell,
    canonical_json,
    code_parts,
    read_cells,
    with_code,
)


def localized_cells(lab: Path, language: str) -> list[Cell]:
    """The cells of an English lab with the words in their code in this language."""
    cells = read_cells(lab)
    if language == "en":
        return cells
    lines = render_file(lab).split("\n")

    def chinese_code(cell: Cell) -> Iterator[str]:
        for start, code in code_parts(cell):
            yield "\n".join(lines[start - 1 : start + code.count("\n")])

    return [with_code(cell, chinese_code(cell)) for cell in cells]


def update_labs() -> None:
    """Write the Chinese code into the cells and answers of the Chinese notebooks."""
    for lab in lab_files():
        path = paths.DOCS / "zh" / "labs" / lab.name
        sources = {
            cell.id: [code for _, code in code_parts(cell)] for cell in localized_cells(lab, "zh")
        }
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for old, cell in zip(notebook["cells"], read_cells(path), strict=True):
            cell = with_code(cell, sources.get(cell.id, []))
            old["source"] = cell.source.splitlines(keepends=True)
        write_file(path, canonical_json(notebook))
