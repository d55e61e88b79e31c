"""What the tests of claims have shown, kept in snippets/results/claims.json.

`scripts/experiment claims` records, for each file of tests: a mutation that makes the test of a
claim about code fail, unless one is written beside it; what the test of any other claim compares;
and a hash of all code that the tests read. The record of a file is fresh while this code is the
same, and then all its mutations are known to be caught.
"""

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages import fresh, paths
from bookbuild.pages.files import write_file

FOLDERS = ("snippets/", "scripts/evidence/", "scripts/experiments/", "tests/claims/")
RUNNERS = (  # what runs and records the tests; Hypothesis reads all modules
    *("scripts/experiments/claims.py", "scripts/experiments/__init__.py"),
    *(f"scripts/evidence/{name}.py" for name in ("__init__", "generated_mutants", "mutants")),
    *("scripts/evidence/recorder.py", "snippets/results/claims.json"),
)


class Record(NamedTuple):
    """What the tests of one file have shown. A test is written without its file."""

    key: str
    reads: list[str]  # the files of this repository that the tests import, run or read
    mutations: dict[str, list[str]]  # test: file in snippets/, old text, new text
    comparisons: dict[str, list[str]]  # test: 0.37 < 0.5

    def is_fresh(self) -> bool:
        return self.key == code_key(self.reads)


def results_file() -> Path:
    return paths.SNIPPETS / "results" / "claims.json"


def load_records() -> dict[str, Record]:
    """The records by file of tests: test_masks.py."""
    return parse_records(results_file().read_bytes()) if results_file().exists() else {}


@functools.cache
def parse_records(text: bytes) -> dict[str, Record]:
    files = json.loads(text)["files"]
    return {
        name: Record(each["key"], each["reads"].split(), each["mutations"], each["comparisons"])
        for name, each in files.items()
    }


def save_records(records: dict[str, Record], environment: dict[str, str]) -> None:
    """Write the records, with one line for each test."""
    lines = [f' "environment": {json.dumps(environment)},', ' "files": {']
    for number, (name, record) in enumerate(records.items()):
        lines += [f'  "{name}": {{', f'   "key": "{record.key}",']
        lines += [f'   "reads": "{" ".join(record.reads)}",']
        for kind, end in (("mutations", ","), ("comparisons", "")):
            texts = [
                f'    "{test}": {json.dumps(value, ensure_ascii=False)}'
                for test, value in getattr(record, kind).items()
            ]
            lines += [f'   "{kind}": {{', *[",\n".join(texts)] * bool(texts), f"   }}{end}"]
        lines += ["  }," if number + 1 < len(records) else "  }"]
    text = "\n".join(["{", *lines, " }", "}", ""])
    write_file(results_file(), text)


def relevant(files: Iterable[str]) -> list[str]:
    """The files on which the outcome of a test depends."""
    return sorted(each for each in files if each.startswith(FOLDERS) and each not in RUNNERS)


def code_key(files: Iterable[str]) -> str:
    """A hash of the code of these files of the repository."""
    return fresh.hash_texts(fresh.hash_file(paths.ROOT / file) for file in files)[:16]
