"""Where Node is."""

import shutil
import sys
from pathlib import Path

from bookbuild.pages.errors import SetupError


def node_executable() -> str:
    """The environment's own Node, else the machine's."""
    own = Path(sys.executable).with_name("node")
    found = str(own) if own.exists() else shutil.which("node")
    if not found:
        raise SetupError("no Node, neither in .venv nor on the PATH; run scripts/install")
    return found
