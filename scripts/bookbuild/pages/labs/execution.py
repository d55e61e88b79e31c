"""Lets mkdocs-jupyter execute a lab in a Jupyter kernel and render what its cells show."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.labs.notebooks import code_cells

SETTINGS = Path(__file__).with_name("jupyter")  # nbconvert's, and our template
CELL_TIMEOUT = 1200  # seconds; the slowest cell computes for about a minute
VARIABLE = re.compile(r'0x[0-9a-f]{6,}|\b(?:CPU|Wall)\b.*\d ?m?s\b|title="stderr"\n.*')
STARTED: list[object] = []  # one item for each code cell that has started
HINTS = {
    "CellTimeoutError": "make it faster",
    "DeadKernelError": "check that memory is sufficient",
    "NoSuchKernel": "remove .venv and run scripts/install",
}


def plugin_options() -> dict[str, Any]:
    """The options of mkdocs-jupyter in mkdocs.yml."""
    from mkdocs.utils import yaml_load

    settings = yaml_load((paths.ROOT / "mkdocs.yml").read_text(encoding="utf-8")) or {}
    return settings["plugins"]["mkdocs-jupyter"]


def run_notebook(path: Path, output: Path, snippets: Path) -> None:
    """Execute a lab in this folder, with snippets from another; write what each code cell shows,
    as Markdown in JSON."""
    from mkdocs_jupyter.convert import nb2html

    here = str(Path.cwd())
    os.environ |= {"JUPYTER_CONFIG_DIR": str(SETTINGS), "PYTHONPATH": str(snippets)}
    os.environ |= {"JUPYTER_RUNTIME_DIR": here, "IPYTHONDIR": here, "OMP_NUM_THREADS": "1"}
    os.mkdir("labs")  # without the kernel's own files
    options = plugin_options()
    used = {name: options[name] for name in ("execute", "allow_errors", "kernel_name")}
    try:
        content = nb2html(shutil.copy(path, "labs"), **used)
        outputs, _ = json.JSONDecoder().raw_decode(content)
    except Exception as error:
        raise cell_error(path, error) from None
    for number, shown in enumerate(outputs, 1):
        if match := VARIABLE.search(shown):
            message = f"cell {number}: {match[0]!r} differs from run to run; don't show it"
            raise SourceError(path, code_cells(path)[number - 1].line, message)
    write_file(output, json.dumps(outputs))


def cell_error(path: Path, error: Any) -> Exception:
    """The error as nbclient or Jupyter reports it, at its line of the notebook."""
    kind, number, line = type(error).__name__, len(STARTED) or 1, 1
    reason, details = str(error).partition("\n")[0], ""
    if kind == "JSONDecodeError":
        return SourceError(SETTINGS, 1, "mkdocs-jupyter has not used our template; git restore it")
    if kind == "CellExecutionError":
        reason = re.sub(r" \(\d+\.py, line \d+\)$", "", f"{error.ename}: {error.evalue}")
        details = re.sub(r"\x1b\[[\d;]*m", "", error.traceback).rpartition("call last)\n")[2]
        for match in re.finditer(r"Cell In\[(\d+)\], line (\d+)", details):
            number, line = int(match[1]), int(match[2])
    elif kind not in HINTS:
        return error
    hint = f"{HINTS.get(kind, 'correct it')}, then run scripts/generate labs/{path.stem}"
    message = f"cell {number}: {reason}; {hint}\n{details}".rstrip()
    return SourceError(path, code_cells(path)[number - 1].line + line - 1, message)
