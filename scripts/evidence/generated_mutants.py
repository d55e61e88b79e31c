"""The mutants that Cosmic Ray generates for some files, and the tests that kill them.

A mutant is a file with one small change: Cosmic Ray applies each of its operators at every place.
The tests that execute the changed line run on a copy of snippets/ with the mutant until one fails.
"""

import ast
import functools
import gc
import inspect
import itertools
import math
import os
import resource
import signal
import sys
import threading
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from bookbuild.generated.mutation_testing import part_hashes
from bookbuild.pages.paths import CLAIMS, SNIPPETS
from evidence.mutants import Change, run_pytest, test_name


class Mutant(NamedTuple):
    """A file in snippets/ with one change."""

    file: str
    line: int
    code: str  # the whole file
    part: str  # a hash of the statement of the module that contains the change

    def difference(self) -> str:
        """The changed line, before and after."""
        old, new = read_file(self.file).splitlines(), self.code.splitlines()
        pairs = [(one, other) for one, other in zip(old, new, strict=False) if one != other]
        return " → ".join(each.strip() for each in pairs[0]) if pairs else "a line removed"

    def changes_a_body(self) -> bool:
        """Whether nothing differs but statements in a function."""
        return without_bodies(self.code) == without_bodies(read_file(self.file))

    def replacement(self) -> Change:
        """The change as a text that the file has once, and the text to replace it."""
        text = read_file(self.file)
        old, new = text.splitlines(keepends=True), self.code.splitlines(keepends=True)
        first = equal_lines(old, new)
        last = equal_lines(old[first:][::-1], new[first:][::-1])
        while True:
            before, after = ("".join(lines[first : len(lines) - last]) for lines in (old, new))
            if before and text.count(before) == 1:
                return self.file, before, after
            first, last = (first - 1, last) if first else (first, last - 1)


def equal_lines(one: list[str], other: list[str]) -> int:
    """How many lines at the start are equal."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


@functools.cache
def read_file(file: str) -> str:
    return (SNIPPETS / file).read_text(encoding="utf-8")


def without_bodies(code: str) -> str:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = []
    return ast.dump(tree)


@functools.cache
def all_mutants(file: str) -> list[Mutant]:
    """The mutants of a file with different code that compiles, in the order of their lines."""
    mutants: dict[str, Mutant] = {}
    text = read_file(file)
    parts = zip(top_level_parts(text), part_hashes(text), strict=True)
    for (before, part, after), key in parts:
        first = before.count("\n")
        nodes = [*ast_nodes(get_ast(part))]
        for name in sorted(operator_names()):
            try:
                operator = get_operator(name)()
            except TypeError:  # it needs settings
                continue
            places = [place for node in nodes for place in operator.mutation_positions(node)]
            for occurrence, (start, _) in enumerate(places):
                changed = mutate_code(part, operator, occurrence)
                if changed and changed != part and compiles(changed):
                    code = f"{before}{changed}{after}"
                    mutants.setdefault(code, Mutant(file, first + start[0], code, key))
    return sorted(mutants.values(), key=lambda mutant: (mutant.line, mutant.code))


def top_level_parts(text: str) -> Iterator[tuple[str, str, str]]:
    """Each statement of a module between the text before and after it.

    Cosmic Ray parses its input again for each mutant, and a statement faster than a file.
    """
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        first = min(part.lineno for part in [node, *getattr(node, "decorator_list", [])]) - 1
        parts = lines[:first], lines[first : node.end_lineno], lines[node.end_lineno :]
        before, part, after = map("".join, parts)
        yield before, part, after


def compiles(code: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


# Which test executes which line


class Coverage(NamedTuple):
    """What the tests of a file execute in snippets/, and how long they take."""

    lines: dict[tuple[str, int], set[str]]  # the tests that execute a line of a file
    seconds: dict[str, float]
    reads: set[str]  # the files that the tests read


class Tracer:
    """A pytest plugin that records the executed lines of each test."""

    def __init__(self, tracer: coverage.Coverage):
        self.tracer = tracer
        self.seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        test = test_name(item.nodeid)
        self.tracer.switch_context(test)
        start = cpu_seconds()
        yield
        self.seconds[test] += cpu_seconds() - start


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has waited for."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(test_file: str, *plugins: object) -> Coverage:
    """Run a file of tests; return what each of them executes. Raises ValueError if one fails.

    Call it in a fresh process. Lines outside functions are executed once, when a module is
    imported; they belong to the empty name.
    """
    tracer = coverage.Coverage(data_file=None, include=[f"{SNIPPETS}/*"], config_file=False)
    plugin = Tracer(tracer)
    tracer.start()
    status, output, reads = run_pytest([test_file], None, plugins=(plugin, *plugins))
    tracer.stop()
    if status:
        raise ValueError(f"{test_file} fails; correct it first:\n{output}")
    data = tracer.get_data()
    lines: dict[tuple[str, int], set[str]] = defaultdict(set)
    for path in data.measured_files():
        file = Path(path).relative_to(SNIPPETS).as_posix()
        for line, tests in data.contexts_by_lineno(path).items():
            lines[file, line].update(tests)
    return Coverage(dict(lines), dict(plugin.seconds), reads)


# Running tests on a mutant

WAITING = 1800  # seconds until a test that waits without computing counts as failed
MEMORY = 4 << 30  # bytes that a process may allocate: a mutant may ask for more than a machine has


class CollectedTests:
    """A pytest plugin that collects tests and keeps its session open instead of running them."""

    def __init__(self) -> None:
        self.items: dict[str, list[pytest.Item]] = defaultdict(list)
        self.collected = threading.Event()

    def pytest_runtestloop(self, session: pytest.Session) -> None:
        for item in session.items:
            self.items[test_name(item.nodeid)].append(item)
        gc.freeze()  # a fork shares what the garbage collector leaves alone
        self.collected.set()
        threading.Event().wait()

    def fail(self, tests: list[str]) -> bool:
        """Run tests until one fails."""
        items = [item for test in tests for item in self.items[test]]
        for item, following in itertools.zip_longest(items, items[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed:
                return True
        return False


TESTS = CollectedTests()


def collect_tests() -> None:
    """Collect all tests, in a process that then forks for each mutant."""
    files = [test.name for test in CLAIMS.glob("test_*.py")]

    def collect() -> None:
        _, output, _ = run_pytest(files, None, plugins=(TESTS,))
        raise ValueError(f"pytest has not collected the tests:\n{output}")

    thread = threading.Thread(target=collect, daemon=True)
    thread.start()
    while not TESTS.collected.wait(1) and thread.is_alive():
        pass


def kills_in_fork(mutant: Mutant, tests: list[str], seconds: float) -> bool:
    """Whether one of the tests fails on a mutant, or they need more CPU time or memory.

    Call it after collect_tests: the functions get their code in a fork of this process. What a
    module has computed on import stays, so that a mutant may survive here and not in kills_in_copy.
    """
    if missing := {*tests} - TESTS.items.keys():
        raise ValueError(f"not collected: {', '.join(sorted(missing))}")
    process = os.fork()
    if process == 0:
        failed = False
        try:
            # The limit holds for each process that a test starts, too. Its signal ends the process.
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds),) * 2)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY,) * 2)
            signal.alarm(WAITING)
            replace_code(mutant)
            failed = True  # a mutant may also raise what ends pytest, such as KeyboardInterrupt
            failed = TESTS.fail(tests)
        finally:
            os._exit(int(failed))
    _, status = os.waitpid(process, 0)
    return status != 0


def replace_code(mutant: Mutant) -> None:
    """Give the functions of an imported module the code of a mutant."""
    codes: dict[str, types.CodeType] = {}
    pending = [compile(mutant.code, "mutant", "exec")]
    while pending:
        code = pending.pop()
        codes[code.co_qualname] = code
        pending += [each for each in code.co_consts if isinstance(each, types.CodeType)]
    name = mutant.file.removesuffix(".py").replace("/", ".")
    namespaces: list[Mapping[str, Any]] = [vars(sys.modules[name])]
    while namespaces:
        for value in namespaces.pop().values():
            value = inspect.unwrap(getattr(value, "__func__", getattr(value, "fget", value)))
            if getattr(value, "__module__", None) != name:
                continue
            if isinstance(value, type):
                namespaces.append(vars(value))
            elif isinstance(value, types.FunctionType) and value.__qualname__ in codes:
                value.__code__ = codes[value.__qualname__]


def kills_in_copy(mutant: Mutant, tests: list[str], seconds: float) -> bool:
    """The same on a copy of snippets/ with the mutant. Call it in a fresh process."""
    change = mutant.file, read_file(mutant.file), mutant.code

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(WAITING)
    try:
        status, _, _ = run_pytest(tests, change, "--exitfirst")
    except TimeoutError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    return status != pytest.ExitCode.OK  # also if a module can't be imported


def batches(seconds: dict[str, float], first: list[str]) -> Iterator[list[str]]:
    """Tests in two groups: those given and the fastest, then the others."""
    rest = sorted(seconds.keys() - {*first}, key=seconds.__getitem__)
    yield from filter(None, ([*first, *rest[:6]], rest[6:]))
