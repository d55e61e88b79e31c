"""Runs the commands of a book that a test has broken, and compares the files before and after."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages.files import PARTIAL_SUFFIX

COMMAND_TIMEOUT = 300  # seconds, on a busy machine
MKDOCS_COMMAND = Path(sys.executable).with_name("mkdocs")
BUILD_COMMAND = (MKDOCS_COMMAND, "build", "--strict")
# Files that may differ between equal builds: locks, and records and caches that only save time.
UNCOMPARED_PATTERNS = ("*.lock", "lock", *("fresh" + n * "/*" for n in range(1, 5)))


class CommandResult(NamedTuple):
    """The exit status and the output of a command."""

    status: int
    output: str


def start_command(folder: Path, *command: str | Path, **more: str) -> subprocess.Popen[str]:
    """A command in a folder, with environment variables that make builds reproducible."""
    quiet = {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    return subprocess.Popen(
        [*map(str, command)],
        cwd=folder,
        env=os.environ | quiet | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # so that all of it can be killed
    )


def finish_command(process: subprocess.Popen[str]) -> CommandResult:
    output, _ = process.communicate(timeout=COMMAND_TIMEOUT)
    return CommandResult(process.returncode, output)


def run_command(folder: Path, *command: str | Path, **more: str) -> CommandResult:
    status, output = finish_command(start_command(folder, *command, **more))
    return CommandResult(status, output.replace(f"{folder}/", ""))


def build(folder: Path, **more: str) -> CommandResult:
    """A strict build of this folder, as scripts/build runs it."""
    return run_command(folder, *BUILD_COMMAND, **more)


def file_hashes(folder: Path, *parts: str) -> dict[str, str]:
    """The files below some folders of a book, each with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
        and not any(path.relative_to(folder / part).match(each) for each in UNCOMPARED_PATTERNS)
    }


def built_files(folder: Path) -> dict[str, str]:
    return file_hashes(folder, "site", ".generated")


def check_stopped(folder: Path, broken: CommandResult, before: dict[str, str]) -> None:
    """A broken build fails with a message, and leaves the site as it was and nothing unfinished."""
    assert broken.status, f"the build succeeded:\n{broken.output}"
    assert "Traceback (most" not in broken.output, broken.output
    site = {name: digest for name, digest in before.items() if name.startswith("site/")}
    assert file_hashes(folder, "site") == site
    unfinished = (folder / ".generated").rglob(f"*{PARTIAL_SUFFIX}")
    assert not [*unfinished, *folder.glob("*.part"), *folder.glob("*.old")]


def check_repaired(folder: Path, before: dict[str, str]) -> None:
    """A build of the repaired book succeeds and writes the same bytes as before the fault."""
    status, output = build(folder)
    assert status == 0, f"the repaired build fails:\n{output}"
    assert built_files(folder) == before


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + COMMAND_TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)
