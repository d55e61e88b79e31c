"""Remembers which tests have passed, by the hashes of everything that they depend on.

A test that has passed is not repeated while the files that it depends on, the code that tests, the
lock files and the environment are the same. `--all` or ALL=1 repeats every test.

Unless the mark `depends_on` names its files, or it saves them itself, a test depends on
- its code and the snippets, docs/ and site/, if it is in tests/browser;
- the snippets, the experiments, the tests of claims and what these import, and the pages if it is
  parametrized by their language, if it is in tests/claims;
- everything but docs/ and site/, if it is in tests/bookbuild;
- all files of the repository and of the built site.
What is in PDF and EPUB doesn't count: they contain the date of the commit. Nor does sitemap.xml,
which contains the day.
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
from bookbuild.run.jobs import dependencies
from built_pages import ROOT

CACHE_FOLDER = ROOT / ".generated/test-cache"
LOCK_FILE_PATTERNS = ("requirements*.txt", "package-lock.json")
CODE = (
    *("*", ".ci/*", ".github/**/*", "overrides/**/*", "scripts/**/*", "snippets/**/*"),
    "tests/**/*",
)
ALL_FILES = (*CODE, "docs/**/*", "site/**/*")
# And the scripts that they import. The others have made the site.
FILES_OF_BROWSER_TESTS = (
    *("docs/**/*", "site/**/*", "snippets/**/*", "tests/*", "tests/browser/*"),
    *("scripts/**/*.conf", "scripts/**/*.js", "scripts/**/*.mjs"),
)
EDITIONS = ("site/**/*.pdf", "site/**/*.epub")
DATED_FILES = (*EDITIONS, "site/**/sitemap.xml*")
FILES_OF_CLAIMS = (
    *("*.toml", "scripts/experiments/**/*", "scripts/bookbuild/pages/**/*"),
    *("scripts/bookbuild/reference/claim*.py", "scripts/bookbuild/reference/mutation_testing.py"),
    *("snippets/**/*", "tests/*.py", "tests/claims/*"),
)
CACHES = {"__pycache__", ".ruff_cache"}  # of Python and ruff, which each run may write
ENVIRONMENT = f"{platform.platform()} {platform.python_version()} user {os.getuid()}"


@functools.cache
def hash_matching_files(patterns: tuple[str, ...]) -> str:
    """A hash of the files that match any of the patterns, which are relative to the root."""
    hashes: dict[str, str] = {}
    for pattern in patterns:
        hashes |= matching_files(pattern)
    for pattern in DATED_FILES:
        if pattern not in patterns:
            hashes |= dict.fromkeys(hashes.keys() & matching_files(pattern).keys(), "")
    lines = (f"{path} {value}\n" for path, value in sorted(hashes.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@functools.cache
def matching_files(pattern: str) -> dict[str, str]:
    """The hash of each file that matches a pattern; many tests depend on the same files."""
    return {
        path.relative_to(ROOT).as_posix(): file_hash(path)
        for path in ROOT.glob(pattern)
        if path.is_file() and not CACHES.intersection(path.parts)
    }


def file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


@functools.cache
def imported_scripts(test: Path) -> tuple[str, ...]:
    """The scripts that a test and the helpers of all tests import, relative to the root."""
    files = dependencies(test) | helper_dependencies()
    scripts = (file for file in files if file.is_relative_to(ROOT / "scripts"))
    return tuple(sorted(file.relative_to(ROOT).as_posix() for file in scripts))


@functools.cache
def helper_dependencies() -> frozenset[Path]:
    """The files that the helpers of all tests import."""
    return frozenset().union(*map(dependencies, ROOT.glob("tests/*.py")))


class CheckCache:
    """The checks that have passed in this environment, such as a version of a browser."""

    def __init__(self, environment: str, code: Iterable[str], everything: bool):
        self.everything = everything
        parts = environment + hash_matching_files((*LOCK_FILE_PATTERNS, *code))
        self.code_hash = hashlib.sha256(parts.encode()).hexdigest()

    def record_path(self, name: str) -> Path:
        return CACHE_FOLDER / f"{hashlib.sha256(name.encode()).hexdigest()}.json"

    def has_passed(self, name: str) -> bool:
        """Whether the check has passed with the same code and the same files."""
        if self.everything or not self.record_path(name).exists():
            return False
        record = json.loads(self.record_path(name).read_text(encoding="utf-8"))
        return record["code"] == self.code_hash and all(
            file_hash(ROOT / path) == value for path, value in record["files"].items()
        )

    def save(self, name: str, files: Iterable[Path | str] = ()) -> None:
        """Record that the check has passed with these files, absolute or relative to the root."""
        hashes = {name: file_hash(ROOT / name) for name in sorted({*map(str, files)})}
        record = {"name": name, "code": self.code_hash, "files": hashes}
        write_file(self.record_path(name), json.dumps(record, indent=1))


def reruns_all_checks(config: pytest.Config) -> bool:
    table = config.getoption("--table")  # only a test that runs records its message
    return config.getoption("--all") or table or os.environ.get("ALL") == "1"


def cache_for_test(item: pytest.Item) -> CheckCache | None:
    """The cache of a test."""
    if mark := item.get_closest_marker("depends_on"):
        own = item.path.relative_to(ROOT).as_posix()
        patterns = ("tests/conftest.py", "tests/check_cache.py", own, *mark.args)
    elif item.path.parent.name == "claims":
        reads_pages = "language" in getattr(item, "fixturenames", ())
        patterns = (*FILES_OF_CLAIMS, *(["docs/**/*.md"] if reads_pages else []))
    elif item.path.parent.name == "browser":
        patterns = (*FILES_OF_BROWSER_TESTS, *imported_scripts(item.path))
    elif item.path.parent.name == "bookbuild":
        patterns = CODE
    else:
        patterns = ALL_FILES
    depends_on_site = any(pattern.startswith("site/") for pattern in patterns)
    if depends_on_site and item.config.getoption("--site").resolve() != ROOT / "site":
        return None  # another site is tested
    return CheckCache(ENVIRONMENT, patterns, reruns_all_checks(item.config))
