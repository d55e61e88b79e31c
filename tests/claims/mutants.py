"""Runs tests on a copy of snippets/ in which one piece of code is replaced."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings

CLAIMS = Path(__file__).resolve().parent
ROOT = CLAIMS.parent.parent
SNIPPETS = ROOT / "snippets"
UNUSED_PLUGINS = (
    *("base_url", "cacheprovider", "cov", "doctest", "junitxml", "logging", "playwright"),
    *("threadexception", "unraisableexception", "xdist"),
)
Change = tuple[str, str, str]  # a file in snippets/, its old text, its new text

# A mutated copy only has to fail: hypothesis need not shrink the example.
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)


class Outcomes:
    """A pytest plugin that records which tests passed."""

    def __init__(self) -> None:
        self.ran: set[str] = set()
        self.failed: set[str] = set()

    @property
    def passed(self) -> set[str]:
        return self.ran - self.failed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = report.nodeid.rpartition("/")[2].partition("[")[0]
        if not report.passed:
            self.failed.add(test)
        elif report.when == "call":
            self.ran.add(test)


def link_folder(folder: Path, copy: Path, changed: Path | None) -> None:
    """Make a folder of symbolic links to the entries of another one; leave out a changed file."""
    copy.mkdir()
    for entry in folder.iterdir():
        if entry == changed or entry.name.startswith((".", "__pycache__")):
            continue
        if changed and changed.is_relative_to(entry):
            link_folder(entry, copy / entry.name, changed)
        else:
            (copy / entry.name).symlink_to(entry)


def copy_snippets(copy: Path, change: Change | None) -> None:
    """Make a folder that reads like snippets/ with the change made."""
    if change is None:
        link_folder(SNIPPETS, copy, None)
        return
    file, old, new = change
    link_folder(SNIPPETS, copy, SNIPPETS / file)
    text = (SNIPPETS / file).read_text(encoding="utf-8")
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")


def run_pytest(
    tests: list[str], change: Change | None, *options: str, plugins: tuple[object, ...] = ()
) -> tuple[int, str]:
    """Run tests on a copy of snippets/; return pytest's exit status and output.

    Call it in a fresh process, which has not imported anything from snippets/.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "snippets"
        copy_snippets(copy, change)
        settings.load_profile("mutants")  # before the tests derive their settings from it
        sys.path[:] = [entry for entry in sys.path if entry != str(SNIPPETS)]
        output = io.StringIO()
        arguments = [
            *(str(CLAIMS / test) for test in tests),
            *options,
            "--quiet",
            f"--confcutdir={CLAIMS}",
            "--override-ini=addopts=",
            f"--override-ini=pythonpath={copy} {ROOT / 'scripts'}",
            "--assert=plain",
            *(f"-pno:{plugin}" for plugin in UNUSED_PLUGINS),
        ]
        with contextlib.redirect_stdout(output):
            status = pytest.main(arguments, plugins=[*plugins])
    return status, output.getvalue()


def run_test(test: str, change: Change) -> tuple[str, str]:
    """'passed', 'failed' or 'did not run', and pytest's output, with the change made."""
    status, output = run_pytest([test], change, "--exitfirst")
    outcomes = {pytest.ExitCode.OK: "passed", pytest.ExitCode.TESTS_FAILED: "failed"}
    return outcomes.get(pytest.ExitCode(status), "did not run"), output


def passing_tests(tests: list[str]) -> tuple[set[str], str]:
    """The tests that pass on an unchanged copy, and pytest's output."""
    outcomes = Outcomes()
    _, output = run_pytest(tests, None, plugins=(outcomes,))
    return outcomes.passed, output
