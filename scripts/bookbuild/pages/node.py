"""Runs Node.js and other programs that scripts/install has installed."""

import subprocess
import sys
from contextlib import suppress
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
        raise program_error(program, process.stderr)
    return process.stdout


def program_error(program: str | Path, errors: str) -> SetupError:
    hint = "correct the file that its errors name"
    hint += "; if they name none of the book, remove .venv and node_modules, run scripts/install"
    return SetupError(f"{Path(program).name} failed; {hint}. Its errors:\n{errors}")


class NodeProcess:
    """A script in Node.js that answers each line with a line, until this process ends."""

    def __init__(self, script: Path):
        pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [node_executable(), script]
        self.process: Any = subprocess.Popen(command, encoding="utf-8", cwd=script.parent, **pipes)

    def answer(self, line: str) -> str:
        """Raises SetupError if the script has failed."""
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()
        if answer := self.process.stdout.readline():
            return answer
        raise program_error(node_executable(), self.process.stderr.read())
