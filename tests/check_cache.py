"""Remembers which checks have passed, by the bytes of everything that they depend on.

A check that has passed is not repeated while its page, the files that the page loads, the tests,
the package bookbuild, the lock files and the browser are the same. `--all` repeats every check.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from bookbuild.pages.files import write_file
from built_pages import ROOT

# The code that checks, and its versions.
CODE = ("tests/**/*.py", "scripts/bookbuild/**/*.py", "requirements*.txt", "package-lock.json")


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


class CheckCache:
    """The checks that have passed in this environment, such as a version of a browser."""

    def __init__(self, folder: Path, environment: str, everything: bool):
        self.folder, self.everything = folder, everything
        code = sorted(path for pattern in CODE for path in ROOT.glob(pattern))
        parts = [environment, *map(file_hash, code)]
        self.code = hashlib.sha256("".join(parts).encode()).hexdigest()

    def path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()}.json"

    def has_passed(self, name: str) -> bool:
        """Whether the check has passed with the same code and the same files."""
        if self.everything or not self.path(name).exists():
            return False
        record = json.loads(self.path(name).read_text(encoding="utf-8"))
        return record["code"] == self.code and all(
            file_hash(Path(path)) == value for path, value in record["files"].items()
        )

    def save(self, name: str, files: Iterable[Path]) -> None:
        """The check has passed, and has read these files."""
        hashes = {str(path): file_hash(path) for path in sorted(set(files))}
        record = {"name": name, "code": self.code, "files": hashes}
        write_file(self.path(name), json.dumps(record, indent=1))
