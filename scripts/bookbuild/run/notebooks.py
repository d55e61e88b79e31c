"""Runs the code cells of a notebook."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from bookbuild.pages.notebooks import Cell, Outputs, code_cells


def run_notebook(path: Path) -> list[Outputs]:
    """The outputs of each code cell. An exception's traceback has the lines of the file."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    return [run_cell(cell, str(path), namespace) for cell in code_cells(path)]


def run_cell(cell: Cell, filename: str, namespace: dict[str, Any]) -> Outputs:
    """Run a cell and return what Jupyter would show: printed text and the last expression."""
    tree = ast.parse("\n" * (cell.line - 1) + cell.source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(StringIO()) as stdout:
        exec(compile(tree, filename, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)
    # A carriage return overwrites the line before it, as progress messages do.
    text = re.sub(r"[^\n]*\r", "", stdout.getvalue()).rstrip()
    outputs: Outputs = [("text", text)] if text else []
    if hasattr(value, "_repr_html_"):
        outputs.append(("html", value._repr_html_()))
    elif value is not None:
        outputs.append(("text", repr(value)))
    return outputs
