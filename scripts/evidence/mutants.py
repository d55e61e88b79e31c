"""Runs tests of claims on a copy of snippets/ in which one piece of code is replaced."""

import contextlib
import io
import itertools
import multiprocessing
import os
import signal
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import Phase, settings

from bookbuild.pages.paths import CLAIMS, ROOT, SCRIPTS, SNIPPETS
from bookbuild.run.jobs import dependencies, local_files

UNUSED_PLUGINS = (
    *("base_url", "cacheprovider", "cov", "doctest", "junitxml", "logging", "playwright"),
    *("threadexception", "unraisableexception", "xdist"),
)
Change = tuple[str, str, str]  # a file in snippets/, its old text, its new text

# A mutated copy only has to fail: hypothesis need not shrink the example.
settings.register_profile(
    "mutants", derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)


# torch.optim imports torch._dynamo on its first use, which takes more than a second.
PRELOADED = (
    *("__main__", "numpy", "pytest", "hypothesis.strategies", "_hypothesis_pytestplugin"),
    *("torch", "torch._dynamo", "coverage"),
)
MEMORY = 14 << 30  # bytes of addresses; a mutant that allocates without end fails at this limit
LONGEST = 300  # seconds; a mutant that loops without end fails after this time


def limit_memory() -> None:
    import resource  # Windows has none, and no such pool

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))


def process_pool() -> ProcessPoolExecutor:
    """A process per core at a time, each for one task, since a module is imported only once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOADED])
    return ProcessPoolExecutor(
        os.cpu_count(), context, initializer=limit_memory, max_tasks_per_child=1
    )


class Result(NamedTuple):
    """What became of a test."""

    outcome: str  # passed; failed: an assertion did; raised: anything else did; or did not run
    output: str  # of pytest


class Failures:
    """A pytest plugin that tells whether an assertion of the test has failed."""

    def __init__(self) -> None:
        self.errors: list[type[BaseException]] = []

    def pytest_exception_interact(self, call: pytest.CallInfo) -> None:
        if call.excinfo:
            self.errors.append(call.excinfo.type)

    @property
    def are_assertions(self) -> bool:
        expected = AssertionError, pytest.fail.Exception  # the second of pytest.raises
        return bool(self.errors) and all(issubclass(each, expected) for each in self.errors)


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
    link_folder(SNIPPETS, copy, SNIPPETS / change[0] if change else None)
    if change:
        file, old, new = change
        text = (SNIPPETS / file).read_text(encoding="utf-8")
        (copy / file).write_text(text.replace(old, new), encoding="utf-8")


def run_by_python(command: list[str]) -> set[Path]:
    """The local files that a command such as python -m variants.chat reads."""
    files = [SNIPPETS / part for part in command if part.endswith(".py")]
    for option, value in itertools.pairwise(command):
        if option in ("-c", "-m"):
            source = value if option == "-c" else f"import {value}"
            files += local_files(SNIPPETS, source.encode())
    return {each for file in files if file.exists() for each in dependencies(file)}


class OpenedFiles:
    """The files of this repository that the process opens from now on, the copy's as snippets/."""

    def __init__(self, copy: Path):
        self.copy, self.names = copy, set[str]()
        sys.addaudithook(self.note)

    def note(self, event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str):
            self.names.add(os.path.abspath(arguments[0]))
        elif event == "subprocess.Popen" and Path(arguments[0]).name.startswith("python"):
            self.names |= {str(path) for path in run_by_python([*map(str, arguments[1])])}

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
    """Run tests on a copy of snippets/; return pytest's status and output, and the files read.

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
            f"--override-ini=pythonpath={copy} {SCRIPTS}",
            "--assert=plain",
            *(f"-pno:{plugin}" for plugin in UNUSED_PLUGINS),
        ]
        with contextlib.redirect_stdout(output):
            status = pytest.main(arguments, plugins=[*plugins])
        return status, output.getvalue(), opened.paths()


def stop(*_: object) -> None:
    raise TimeoutError(f"the test has not ended after {LONGEST} s")


def run_test(test: str, change: Change | None) -> Result:
    """The result of a test with the change made. Call it in a fresh process."""
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    failures = Failures()
    status, output, _ = run_pytest([test], change, "--exitfirst", plugins=(failures,))
    failed = "failed" if failures.are_assertions else "raised"
    outcomes = {pytest.ExitCode.OK: "passed", pytest.ExitCode.TESTS_FAILED: failed}
    return Result(outcomes.get(pytest.ExitCode(status), "did not run"), output)


def test_name(node: str) -> str:
    """test_masks.py::test_a for tests/claims/test_masks.py::test_a[1]."""
    return node.rpartition("/")[2].partition("[")[0]


test_name.__test__ = False  # type: ignore[attr-defined]
