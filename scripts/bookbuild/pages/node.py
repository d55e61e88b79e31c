"""Finds the Node.js executable."""

import shutil
import sys
from pathlib import Path

from bookbuild.pages.errors import SetupError


def node_executable() -> str:
    """Node of the virtual environment, else of the PATH. Raises SetupError if there is none."""
    installed = Path(sys.executable).with_name("node")
    executable = str(installed) if installed.exists() else shutil.which("node")
    if not executable:
        raise SetupError("Node.js not found in .venv or on the PATH; run scripts/install")
    return executable
