"""Runs the code cells of a lab."""

import ast
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from bookbuild.pages.notebooks import Cell, Outputs, code_cells


def run_notebook(path: Path) -> list[Outputs]:
    """What each code cell shows. Raises what a cell raises, with its lines in the file."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    return [run_cell(cell, str(path), namespace) for cell in code_cells(path)]


def run_cell(cell: Cell, name: str, namespace: dict[str, Any]) -> Outputs:
    tree = ast.parse("\n" * (cell.line - 1) + cell.source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    with redirect_stdout(StringIO()) as printed:
        exec(compile(tree, name, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    # A progress line is written over the one before it.
    text = re.sub(r"[^\n]*\r", "", printed.getvalue()).rstrip()
    shown: Outputs = [("text", text)] if text else []
    if hasattr(value, "_repr_html_"):
        shown.append(("html", value._repr_html_()))
    elif value is not None:
        shown.append(("text", repr(value)))
    return shown
