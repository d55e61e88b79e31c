"""Remembers which checks have passed, by the bytes of everything that they depend on.

A check that has passed is not repeated while the files that it read, the code that checks, the
lock files and the environment are the same. `--all` or ALL=1 repeats every check.

A test names the files that it depends on by the mark `depends_on`, or saves them when it ends.
"""

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import pytest

from bookbuild.pages.files import write_file
from built_pages import ROOT

FOLDER = ROOT / ".generated/test-cache"
LOCKS = ("requirements*.txt", "package-lock.json")
ENVIRONMENT = f"{platform.platform()} {platform.python_version()} user {os.getuid()}"


@functools.cache
def code_hashes(patterns: tuple[str, ...]) -> str:
    """The hashes of the files that match any of the patterns, which begin at the root."""
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    return "".join(file_hash(path) for path in paths if path.parent.name != "__pycache__")


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


class CheckCache:
    """The checks that have passed in this environment, such as a version of a browser."""

    def __init__(self, environment: str, code: Iterable[str], everything: bool):
        self.everything = everything
        parts = environment + code_hashes((*LOCKS, *code))
        self.code = hashlib.sha256(parts.encode()).hexdigest()

    def path(self, name: str) -> Path:
        return FOLDER / f"{hashlib.sha256(name.encode()).hexdigest()}.json"

    def has_passed(self, name: str) -> bool:
        """Whether the check has passed with the same code and the same files."""
        if self.everything or not self.path(name).exists():
            return False
        record = json.loads(self.path(name).read_text(encoding="utf-8"))
        return record["code"] == self.code and all(
            file_hash(ROOT / path) == value for path, value in record["files"].items()
        )

    def save(self, name: str, files: Iterable[Path | str] = ()) -> None:
        """The check has passed, and has read these files, as paths from the root or absolute."""
        hashes = {name: file_hash(ROOT / name) for name in sorted({*map(str, files)})}
        record = {"name": name, "code": self.code, "files": hashes}
        write_file(self.path(name), json.dumps(record, indent=1))


def runs_everything(config: pytest.Config) -> bool:
    table = config.getoption("--table")  # of messages, which only a test that runs records
    return config.getoption("--all") or table or os.environ.get("ALL") == "1"


def cache_of(item: pytest.Item) -> CheckCache | None:
    """The cache of a test with the mark `depends_on`, which names what it reads but its code."""
    if not (mark := item.get_closest_marker("depends_on")):
        return None
    own = item.path.relative_to(ROOT).as_posix()
    code = ("tests/conftest.py", "tests/check_cache.py", own, *mark.args)
    return CheckCache(ENVIRONMENT, code, runs_everything(item.config))
