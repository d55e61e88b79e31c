"""Runs tests on a copy of snippets/ in which one piece of code is replaced."""

import contextlib
import functools
import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import Phase, settings

CLAIMS = Path(__file__).resolve().parent
ROOT = CLAIMS.parent.parent
SNIPPETS = ROOT / "snippets"
RECORD = SNIPPETS / "results" / "mutations.json"
UNUSED_PLUGINS = (
    *("base_url", "cacheprovider", "cov", "doctest", "junitxml", "logging", "playwright"),
    *("threadexception", "unraisableexception", "xdist"),
)
Change = tuple[str, str, str]  # a file in snippets/, its old text, its new text

# A mutated copy only has to fail: hypothesis need not shrink the example.
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)


class Result(NamedTuple):
    """What became of a test."""

    outcome: str  # passed, failed or did not run
    output: str  # of pytest
    files: set[str]  # what it read, as paths from the root


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


class OpenedFiles:
    """The files of this repository that the process opens from now on, the copy's as snippets/."""

    def __init__(self, copy: Path):
        self.copy, self.names = copy, set[str]()
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str):
            self.names.add(os.path.abspath(arguments[0]))
        elif event == "subprocess.Popen":  # what a child process opens is not known
            self.names |= {str(path) for path in SNIPPETS.rglob("*.py")}

    def paths(self) -> set[str]:
        """The paths from the root; of a compiled module, that of its source."""
        found = set()
        for path in map(Path, self.names):
            if path.is_relative_to(self.copy):
                path = SNIPPETS / path.relative_to(self.copy)
            if path.parent.name == "__pycache__":
                path = path.parent.with_name(f"{path.name.partition('.')[0]}.py")
            if path.is_relative_to(ROOT) and not path.is_dir():
                name = path.relative_to(ROOT).as_posix()
                if not name.startswith((".", "node_modules/")):
                    found.add(name)
        return found


def run_pytest(
    tests: list[str], change: Change | None, *options: str, plugins: tuple[object, ...] = ()
) -> tuple[int, str, set[str]]:
    """Run tests on a copy of snippets/; return pytest's exit status, output and the files read.

    Call it in a fresh process, which has not imported anything from snippets/.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "snippets"
        copy_snippets(copy, change)
        opened = OpenedFiles(copy)
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
        return status, output.getvalue(), opened.paths()


def run_test(test: str, change: Change) -> Result:
    """The result of a test with the change made."""
    status, output, files = run_pytest([test], change, "--exitfirst")
    outcomes = {pytest.ExitCode.OK: "passed", pytest.ExitCode.TESTS_FAILED: "failed"}
    return Result(outcomes.get(pytest.ExitCode(status), "did not run"), output, files)


def passing_tests(tests: list[str]) -> tuple[set[str], str]:
    """The tests that pass on an unchanged copy, and pytest's output."""
    outcomes = Outcomes()
    _, output, _ = run_pytest(tests, None, plugins=(outcomes,))
    return outcomes.passed, output


@functools.cache
def code_hash(file: str) -> str:
    """A hash of a file of this repository; comments and docstrings of Python don't change it."""
    from translator import code_only  # here, since it imports PyTorch

    path = ROOT / file
    if not path.is_file():
        return "missing"
    data = path.read_bytes()
    return hashlib.sha256(
        code_only(data.decode()).encode() if path.suffix == ".py" else data
    ).hexdigest()


class CaughtMutations:
    """The mutations that their tests have caught, each with a hash of the code that decided it.

    `scripts/experiment mutations` keeps them in snippets/results/, so that a fresh clone need not
    try all of them again. Those whose code has changed are tried again, with --all every one.
    """

    def __init__(self, path: Path = RECORD):
        self.path = path
        record = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self.file_sets: list[list[str]] = record.get("files", [])
        self.caught: dict[str, tuple[int, str]] = record.get("caught", {})

    def hash_of(self, files: list[str]) -> str:
        text = "".join(code_hash(file) for file in [*files, "tests/claims/mutants.py"])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def has(self, name: str) -> bool:
        """Whether the mutation was caught with the code as it is now."""
        number, key = self.caught.get(name, (None, ""))
        return number is not None and self.hash_of(self.file_sets[number]) == key

    def add(self, name: str, files: set[str]) -> None:
        """Record that a test that read these files has caught the mutation."""
        file_set = sorted(files)
        if file_set not in self.file_sets:
            self.file_sets.append(file_set)
        self.caught[name] = (self.file_sets.index(file_set), self.hash_of(file_set))

    def write(self, names: list[str]) -> None:
        """Write the record of the mutations with these names."""
        caught = {name: self.caught[name] for name in names if name in self.caught}
        used = sorted({number for number, _ in caught.values()})
        record = {
            "files": [self.file_sets[number] for number in used],
            "caught": {name: (used.index(number), key) for name, (number, key) in caught.items()},
        }
        self.path.write_text(f"{json.dumps(record, ensure_ascii=False, indent=0)}\n", "utf-8")
