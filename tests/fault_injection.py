"""Breaks a copy of a small book, looks at what is told and left, mends it and builds again."""

import hashlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from bookbuild.pages.files import PARTIAL_SUFFIX

PATIENCE = 120  # seconds, on a busy machine
MKDOCS = Path(sys.executable).with_name("mkdocs")
# What a run may leave and another may find: locks, and what is only kept to save time.
KEPT = ("*.lock", "lock", "formulas.json", "templates/*", "installing")


class Run(NamedTuple):
    """What a command came to."""

    status: int
    told: str


def environment(**more: str) -> dict[str, str]:
    """For builds whose bytes are to be compared."""
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
        timeout=300,
    )
    return Run(done.returncode, done.stdout.replace(f"{folder}/", ""))


def build(folder: Path, **more: str) -> Run:
    """What scripts/build does, in this folder."""
    return run(folder, MKDOCS, "build", "--strict", **more)


def tree(folder: Path, *parts: str) -> dict[str, str]:
    """All files below some folders of a book, with a hash of each."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not any(path.relative_to(folder / part).match(each) for each in KEPT)
    }


def halves(folder: Path) -> list[str]:
    """What is half-written: the files and folders that are named so, and whatever is empty."""
    named = [*list(folder.glob("*.part")), *folder.glob("*.old")]
    named += [*(folder / ".generated").rglob(f"*{PARTIAL_SUFFIX}")]
    return [path.relative_to(folder).as_posix() for path in named]


def told_line(told: str, start: int) -> str:
    """The whole line that stands there, without what MkDocs puts before it."""
    line = told[told.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return re.sub(r"^(?:Error: |[A-Z]+ +- +|E +)", "", line)


class Outcome(NamedTuple):
    """Of one fault: the broken run, what it left, and the run after it was mended."""

    broken: Run
    changed: list[str]  # files of the site that are not as they were
    halves: list[str]
    mended: Run
    differ: list[str]  # files that are not as in a book that never was broken

    def check(self) -> None:
        """(b) it stops, (c) nothing half-written is left, (d) mended it succeeds; of (a) the
        half that all have: no one reads a traceback."""
        assert self.broken.status not in (0, None), f"it went through:\n{self.broken.told}"
        assert "Traceback (most" not in self.broken.told, self.broken.told
        assert not self.changed, "the site is not as it was"
        assert not self.halves, "something half-written is left"
        assert self.mended.status == 0, f"mended, it still stops:\n{self.mended.told}"
        assert not self.differ, "mended, it is not as if it had never been broken"


def unlike(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def chosen(request: pytest.FixtureRequest, faults: Iterable[str]) -> list[str]:
    """Those that pytest was asked for (-k): each takes seconds."""
    params = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    wanted = {each.get("fault") for each in params}
    return [fault for fault in faults if fault in wanted]


def until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < end, "it never happens"
        time.sleep(0.01)
