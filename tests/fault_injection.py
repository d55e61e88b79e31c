"""Breaks a copy of the sample book, checks the message and the files left, repairs it, rebuilds."""

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages.files import PARTIAL_SUFFIX
from warm_mkdocs import TIMEOUT, WarmMkDocs

PATIENCE = 120  # seconds, on a busy machine
MKDOCS = Path(sys.executable).with_name("mkdocs")
# Files that may differ between equal builds: locks, and caches that only save time.
LOCKS = ("*.lock", "lock", "installing")
CACHES = ("formulas.json", "templates/*")


class Run(NamedTuple):
    """The exit status and the output of a command."""

    status: int
    output: str


def environment(**more: str) -> dict[str, str]:
    """Variables for builds whose bytes are compared."""
    quiet = {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    return os.environ | quiet | more


def run(folder: Path, *command: str | Path, **more: str) -> Run:
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
    )
    return Run(done.returncode, done.stdout.replace(f"{folder}/", ""))


def build(folder: Path, mkdocs: WarmMkDocs | None = None) -> Run:
    """A strict build of this folder, as scripts/build runs it."""
    if mkdocs is None:
        return run(folder, MKDOCS, "build", "--strict")
    status, output = mkdocs.run(folder, environment(), "build", "--strict")
    return Run(status, output.replace(f"{folder}/", ""))


def file_hashes(folder: Path, *parts: str, ignored: tuple[str, ...] = LOCKS) -> dict[str, str]:
    """All files below some folders of a book, each with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not any(path.relative_to(folder / part).match(one) for one in ignored)
    }


def built_files(folder: Path) -> dict[str, str]:
    """What a build makes; equal sources make equal bytes."""
    return file_hashes(folder, "site", ".generated", ignored=LOCKS + CACHES)


def different_files(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def partial_files(folder: Path) -> list[str]:
    """Half-written files and folders, which have such names."""
    paths = [*folder.glob("*.part"), *folder.glob("*.old")]
    paths += [*(folder / ".generated").rglob(f"*{PARTIAL_SUFFIX}")]
    return [path.relative_to(folder).as_posix() for path in paths]


def message_line(output: str, start: int) -> str:
    """The whole line at this position, without the prefixes of MkDocs."""
    line = output[output.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return re.sub(r"^(?:Error: |[A-Z]+ +- +|E +)", "", line)


def check_stopped(broken: Run) -> None:
    """A broken build fails, with a message instead of a traceback."""
    assert broken.status, f"the build succeeded:\n{broken.output}"
    assert "Traceback (most" not in broken.output, broken.output


def check_repaired(repaired: Run, different: list[str]) -> None:
    """Repaired, the build makes the bytes that it made before it was broken."""
    assert repaired.status == 0, f"the repaired build fails:\n{repaired.output}"
    assert not different, "the repaired build differs from the original"


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)
