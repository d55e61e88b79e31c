#!/usr/bin/env python3
"""Runs the tests of claims on all mutants that Cosmic Ray generates for some files.

Writes snippets/results/mutation_testing.json. The mutants of a part whose code hasn't changed are
not run again, except with --all. usage: scripts/experiment mutation_testing [--all] [FILE…]
"""

import math
import multiprocessing
import os
import re
import signal
import sys
import types
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path

import pytest

from bookbuild.generated import claims
from bookbuild.generated import mutation_testing as results
from bookbuild.generated.mutation_testing import FILES, Record
from bookbuild.pages.paths import CLAIMS, SNIPPETS
from evidence import generated_mutants as generated
from evidence.generated_mutants import Coverage, Mutant, batches
from evidence.mutants import process_pool

WORKERS = os.cpu_count() or 1
# A fault must be found soon: tests that take longer don't count.
LONGEST = 2  # CPU seconds, with the coverage measured
# Any change of the code makes the stored results of long measurements stale: that kills nothing.
ABOUT_KEYS = re.compile(r"code_key|\bmeasured\(|\[\"key\"\]|def test_the_runner|mutations?\.json")


def tests_to_leave_out() -> set[str]:
    left_out = set()
    for path in CLAIMS.glob("test_*.py"):
        for part in re.split(r"^(?=def |@)", path.read_text(encoding="utf-8"), flags=re.M):
            name = re.match(r"def (test_\w+)", part)
            if name and ABOUT_KEYS.search(part):
                left_out.add(f"{path.name}::{name[1]}")
    return left_out


class Limit:
    """A pytest plugin that skips the rest of a test that takes too long."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        yield from self.limited()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        yield from self.limited()

    def limited(self) -> Iterator[None]:
        signal.signal(signal.SIGPROF, self.skip)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)

    def skip(self, _: int, frame: types.FrameType | None) -> None:
        while frame:
            if "/coverage/" in frame.f_code.co_filename:  # it may hold its lock: try again soon
                signal.setitimer(signal.ITIMER_PROF, 0.01)
                return
            frame = frame.f_back
        pytest.skip("too long")


def measure_tests(pool: Executor, files: list[str]) -> Coverage:
    """The coverage of the tests of claims that import one of the files, of the long ones only
    their beginning."""
    names = "|".join(Path(file).stem for file in files)
    imports = re.compile(rf"^ *(import .*\b({names})\b|from ({names}) import)", re.M)
    tests = [
        path.name
        for path in sorted(CLAIMS.glob("test_*.py"))
        if path.name != "test_mutations.py" and imports.search(path.read_text("utf-8"))
    ]
    measured = Coverage(defaultdict(set), {}, set())
    for future in as_completed([pool.submit(generated.measure, name, Limit()) for name in tests]):
        found = future.result()
        measured.seconds.update(found.seconds)
        for place, tests in found.lines.items():
            measured.lines[place] |= tests
        print(f"coverage: {len(measured.seconds)} tests", flush=True)
    return measured


def tests_by_line(file: str) -> dict[int, list[str]]:
    """The tests of claims with a mutation of a line."""
    text = (SNIPPETS / file).read_text(encoding="utf-8")
    tests: dict[int, list[str]] = defaultdict(list)
    for claim in claims.all_claims():
        for changed_file, old, *_ in claim.mutations:
            if changed_file == file and old in text:
                first = text.count("\n", 0, text.index(old)) + 1
                for line in range(first, first + old.rstrip("\n").count("\n") + 1):
                    tests[line].append(claim.test)
    return tests


def tests_of(mutant: Mutant, measured: Coverage, left_out: set[str]) -> dict[str, float]:
    """The quick tests that execute the line of a mutant, with their CPU seconds."""
    tests = measured.lines.get((mutant.file, mutant.line), {""})
    if "" in tests:  # executed on import
        lines = measured.lines.items()
        tests = set().union(*(names for (file, _), names in lines if file == mutant.file))
    seconds = {test: measured.seconds[test] for test in tests - left_out - {""}}
    return {test: each for test, each in seconds.items() if each <= LONGEST}


class Run:
    """Runs tests on the mutants of a file and records which are killed."""

    def __init__(self, file: str, measured: Coverage, everything: bool):
        self.file, self.measured = file, measured
        self.left_out = tests_to_leave_out()
        self.first = tests_by_line(file)  # the tests to run first, by line
        self.mutants = generated.all_mutants(file)
        self.parts = results.part_hashes(generated.read_file(file))
        known = results.load_results().get(file)
        self.record = Record({}, []) if everything or not known else known

    def run(self, forks: Executor, fresh: Executor) -> None:
        chosen = [mutant for mutant in self.mutants if mutant.part not in self.record.parts]
        print(f"{self.file}: {len(self.mutants)} mutants, {len(chosen)} to run", flush=True)
        remaining = Counter(mutant.part for mutant in chosen)
        known = {mutant.difference() for mutant in self.mutants if mutant not in chosen}
        survived = [each for each in self.record.survived if each in known]
        with ThreadPoolExecutor(WORKERS) as threads:
            futures = {threads.submit(self.survives, each, forks, fresh): each for each in chosen}
            for count, future in enumerate(as_completed(futures), 1):
                mutant = futures[future]
                if future.result():
                    survived.append(mutant.difference())
                    print(f"survived: {mutant.line} {mutant.difference()}", flush=True)
                remaining[mutant.part] -= 1
                if not remaining[mutant.part]:
                    self.save(remaining, survived)
                if count % 20 == 0:
                    print(f"{count} of {len(chosen)}", flush=True)
        self.save(remaining, survived)

    def save(self, remaining: Counter[str], survived: list[str]) -> None:
        """Record the parts whose mutants have all run."""
        counts = Counter(mutant.part for mutant in self.mutants)
        parts = {part: counts[part] for part in self.parts if not remaining[part]}
        results.save_results(self.file, Record(parts, sorted(survived)))

    def survives(self, mutant: Mutant, forks: Executor, fresh: Executor) -> bool:
        """Whether no quick test of a claim that executes the mutant fails."""
        seconds = tests_of(mutant, self.measured, self.left_out)
        # A test that only reads a default executes no line of the file.
        known = self.measured.seconds
        named = {
            test: known.get(test, math.inf)
            for test in self.first[mutant.line]
            if test not in self.left_out
        }
        first = [test for test, each in named.items() if each <= LONGEST][:4]
        seconds |= {test: named[test] for test in first}
        in_fork = mutant.changes_a_body()
        executor, kills = (
            (forks, generated.kills_in_fork) if in_fork else (fresh, generated.kills_in_copy)
        )
        for tests in batches(seconds, first):
            # A fresh process imports PyTorch.
            limit = (5 if in_fork else 60) + 5 * sum(map(seconds.__getitem__, tests))
            if executor.submit(kills, mutant, tests, limit).result():
                if len(tests) <= 10:
                    self.first[mutant.line] = [*tests[:2], *self.first[mutant.line]]
                return False
        return True


def main(options: list[str]) -> None:
    everything = "--all" in options
    context = multiprocessing.get_context("forkserver")
    with (
        process_pool() as fresh,
        ProcessPoolExecutor(WORKERS, context, generated.collect_tests) as forks,
    ):
        files = [each for each in options if each != "--all"] or [*FILES]
        measured = measure_tests(fresh, files)
        for file in files:
            Run(file, measured, everything).run(forks, fresh)
    sys.exit("\n".join(results.unexplained_survivors()) or 0)


if __name__ == "__main__":
    main(sys.argv[1:])
