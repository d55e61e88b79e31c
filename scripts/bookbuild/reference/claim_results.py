"""The comparisons of claims about mathematics and measurements, kept in snippets/results/.

scripts/experiment claims records them: for each test, what its assertions compare, the files that
it reads, and a hash of their code.
"""

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.reference.claims import Claim, all_claims
from bookbuild.reference.mutation_testing import hash_code


class Result(NamedTuple):
    """What the test of a claim compares."""

    key: str
    files: list[str]  # the test's own file, and those that it imports, runs or reads
    comparisons: list[str]  # 0.37 < 0.5


def results_file() -> Path:
    return paths.SNIPPETS / "results" / "claims.json"


def load_results() -> dict[str, Result]:
    """The recorded comparisons of each test."""
    if not results_file().exists():
        return {}
    tests = json.loads(results_file().read_text(encoding="utf-8"))["tests"]
    return {test: Result(**result) for test, result in tests.items()}


def measured_claims() -> list[Claim]:
    """The claims whose comparisons the page Proofs shows."""
    return [claim for claim in all_claims() if claim.kind != "code"]


def stale_tests() -> list[str]:
    """The tests whose comparisons are missing or of other code, and removed tests."""
    results, tests = load_results(), [claim.test for claim in measured_claims()]
    hash_file = functools.cache(hash_code)  # many tests read the same files
    fresh = {
        test
        for test, result in results.items()
        if test in tests and result.key == code_key(result.files, hash_file)
    }
    return [test for test in dict.fromkeys([*tests, *results]) if test not in fresh]


def code_key(files: list[str], hash_file: Callable[[Path], str] = hash_code) -> str:
    """A hash of the code of these files of the repository."""
    text = "".join(hash_file(paths.ROOT / file) for file in files)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
