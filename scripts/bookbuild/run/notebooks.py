"""Lets mkdocs-jupyter execute the code of a lab in a Jupyter kernel, into its cache."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.notebooks import canonical_json, code_cells

SETTINGS = Path(__file__).with_name("jupyter")  # nbconvert's, and our template
VARIABLE = re.compile(r'0x[0-9a-f]{6,}|\b(?:CPU|Wall)\b.*\d ?m?s\b|title="stderr"\n.*')
STARTED = [0]  # the index of each code cell that has started
HINTS = {
    "CellTimeoutError": "make it faster",
    "DeadKernelError": "check that memory is sufficient",
    "NoSuchKernel": "remove .venv and run scripts/install",
}


def run_notebook(path: Path, key: str, code_notebook: Path, link: Path) -> None:
    """Execute a lab in this folder. Raises SourceError if that fails.

    Writes the notebook that mkdocs-jupyter then finds in its cache, which has the code cells and
    the key of all that they depend on, and a link to the file of the cache.
    """
    from mkdocs.utils import yaml_load
    from mkdocs_jupyter.plugin import Plugin

    here = str(Path.cwd())
    os.environ |= {"JUPYTER_CONFIG_DIR": str(SETTINGS), "PYTHONPATH": str(paths.SNIPPETS)}
    os.environ |= {"JUPYTER_RUNTIME_DIR": here, "IPYTHONDIR": here, "OMP_NUM_THREADS": "1"}
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    notebook["metadata"] = {"key": key}
    write_file(executed := Path(here, "labs", path.name), canonical_json(notebook))
    settings = yaml_load((paths.ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    options = settings["plugins"]["mkdocs-jupyter"]
    plugin = Plugin()
    plugin.load_config(options | {"cache_dir": "cache"})
    plugin.on_pre_build(settings)
    file = SimpleNamespace(abs_src_path=str(executed), src_path=path.name)
    page = plugin.on_pre_page(SimpleNamespace(file=file, abs_url=""), settings, None)
    try:
        page.render(settings, None)
        outputs, _ = json.JSONDecoder().raw_decode(page.content)
    except Exception as error:
        raise cell_error(path, error) from None
    for number, output in enumerate(outputs):
        if match := VARIABLE.search(output):
            message = f"cell {number + 1}: {match[0]!r} differs from run to run; don't show it"
            raise SourceError(path, code_cells(path)[number].line, message)
    [entry] = Path("cache").iterdir()
    cached = paths.ROOT / options["cache_dir"] / entry.name
    write_file(cached, entry.read_bytes())
    write_file(code_notebook, executed.read_bytes())
    link.unlink(missing_ok=True)
    link.symlink_to(os.path.relpath(cached, link.parent))


def cell_error(path: Path, error: Any) -> Exception:
    """The error as nbclient or Jupyter reports it, at its line of the notebook."""
    kind, number, line = type(error).__name__, STARTED[-1] + 1, 1
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
