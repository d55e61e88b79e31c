"""Runs Node.js and other programs that scripts/install has installed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from bookbuild.pages.errors import SetupError


def node_executable() -> str:
    """Node of the virtual environment."""
    return str(Path(sys.executable).with_name("node"))


def run_program(program: str | Path, *arguments: str | Path, **options: Any) -> str:
    """The output of a program. Raises SetupError if it fails."""
    process = subprocess.run(
        [program, *arguments], capture_output=True, text=True, encoding="utf-8", **options
    )
    if process.returncode:
        hint = "correct what it reads, or remove .venv and node_modules and run scripts/install"
        raise SetupError(f"{Path(program).name} failed; {hint}. Its errors:\n{process.stderr}")
    return process.stdout
