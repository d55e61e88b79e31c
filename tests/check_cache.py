"""Remembers which checks have passed, by the bytes of everything that they depend on.

A check that has passed is not repeated while the files that it read, the code that checks, the
lock files and the environment are the same. `--all` repeats every check.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from bookbuild.pages.files import write_file
from built_pages import ROOT

FOLDER = ROOT / ".generated/test-cache"
LOCKS = ("requirements*.txt", "package-lock.json")


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


class CheckCache:
    """The checks that have passed in this environment, such as a version of a browser."""

    def __init__(self, environment: str, code: Iterable[str], everything: bool):
        self.everything = everything
        paths = sorted(path for pattern in (*LOCKS, *code) for path in ROOT.glob(pattern))
        parts = [environment, *map(file_hash, paths)]
        self.code = hashlib.sha256("".join(parts).encode()).hexdigest()

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

    def save(self, name: str, files: Iterable[Path | str]) -> None:
        """The check has passed, and has read these files, as paths from the root or absolute."""
        hashes = {name: file_hash(ROOT / name) for name in sorted({*map(str, files)})}
        record = {"name": name, "code": self.code, "files": hashes}
        write_file(self.path(name), json.dumps(record, indent=1))
