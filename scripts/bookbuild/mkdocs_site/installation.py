"""Checks at the start of a build that what it runs is installed."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError
from bookbuild.pages.node import node_executable


def installation_error() -> SetupError | None:
    """What is missing first, with the command that helps in this environment."""
    own = paths.ROOT / ".venv"  # which scripts/install makes
    for missing, command in missing_parts():
        if (own / "installed").exists() and Path(sys.prefix).resolve() == own.resolve():
            command = "remove .venv and run scripts/install"  # which finds no other damage
        return SetupError(f"{missing} is not installed in {sys.prefix}; {command}")
    return None


def missing_parts() -> Iterator[tuple[str, str]]:
    """What is missing, each with the command that installs it."""
    if not importlib.util.find_spec("torch"):
        yield "PyTorch", f"run {sys.executable} -m pip install -r requirements-torch.txt"
    if not Path(node_executable()).exists():
        yield "Node.js", f"run {sys.executable} -m pip install -r requirements.txt"
    for package in ("katex", "esbuild"):
        if not (paths.ROOT / "node_modules" / package / "package.json").exists():
            npm = Path(node_executable()).with_name("npm")
            yield f"the npm package {package}", f"run {npm} ci --omit=dev --ignore-scripts"
