"""Runs a test against a copy of snippets/ in which one piece of code is changed."""

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SNIPPETS = ROOT / "snippets"
NEEDLESS = ("cacheprovider", "playwright", "cov", "xdist", "base_url", "unraisableexception")


class Change(NamedTuple):
    """A piece of a file of snippets/, and what it becomes."""

    file: str
    old: str
    new: str


class Outcomes:
    """A plugin of pytest that notes which tests ran, and which of them did not pass."""

    def __init__(self) -> None:
        self.ran: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid.rpartition("/")[2].partition("[")[0]
        if not report.passed:
            self.failed.add(test)
        elif report.when == "call":
            self.ran.add(test)


def pytest_on_a_copy(
    tests: list[str], change: Change | None, *options: str, plugins: tuple = ()
) -> tuple[int, str]:
    """The status of pytest, run on a copy of snippets/, and what it said.

    Call it in a fresh process, which has loaded nothing of snippets/.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "snippets"
        shutil.copytree(SNIPPETS, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        if change:
            path = copy / change.file
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace(change.old, change.new), encoding="utf-8")
        sys.path[:] = [entry for entry in sys.path if entry != str(SNIPPETS)]
        said = io.StringIO()
        arguments = [
            *(str(HERE / test) for test in tests),
            *options,
            "--quiet",
            "--hypothesis-profile=mutants",
            "--override-ini=addopts=",
            f"--override-ini=pythonpath={copy} {ROOT / 'scripts'}",
            "--assert=plain",
            *(f"-pno:{plugin}" for plugin in NEEDLESS),
        ]
        with contextlib.redirect_stdout(said):
            status = pytest.main(arguments, plugins=[*plugins])
    return status, said.getvalue()


def run(test: str, change: Change | None = None) -> tuple[str, str]:
    """'passed', 'failed' or 'did not run', and what pytest said, with a change made."""
    status, said = pytest_on_a_copy([test], change, "--exitfirst")
    outcome = {pytest.ExitCode.OK: "passed", pytest.ExitCode.TESTS_FAILED: "failed"}
    return outcome.get(pytest.ExitCode(status), "did not run"), said


def passing(tests: list[str]) -> tuple[set[str], str]:
    """Those of the tests that pass in an unchanged copy, and what pytest said."""
    outcomes = Outcomes()
    _, said = pytest_on_a_copy(tests, None, plugins=(outcomes,))
    return outcomes.ran - outcomes.failed, said
