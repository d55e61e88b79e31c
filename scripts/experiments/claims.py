#!/usr/bin/env python3
"""What the tests of claims show, for the pages of claims; writes snippets/results/claims.json.

For each file of tests whose code has changed: the comparisons that its tests make, and for each
claim about code a mutation that its test catches. This is a written one, `@mutation(…)`, the one
recorded before, or the first that is caught of those that Cosmic Ray generates for the lines that
the test executes. One that makes an assertion fail is preferred to one whose code raises.

usage: scripts/experiment claims [--all] [FILE…]
"""

import os
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from bookbuild.generated import claim_results, claims
from bookbuild.generated.claim_results import Record
from bookbuild.pages.paths import CLAIMS, SNIPPETS
from evidence.generated_mutants import Coverage, all_mutants
from evidence.mutants import Change, process_pool, run_test
from evidence.recorder import record

LINES, SECONDS = 20, 300  # so many lines are tried for a claim, and for so long at most
OWN_PROGRAMS = ("examples/", "exercises/", "pitfalls/")  # a fault in a module says more


def candidates(test: str, coverage: Coverage) -> Iterator[Change]:
    """Mutations of the lines that a test executes, first those that few other tests execute."""
    places = [place for place, tests in coverage.lines.items() if test in tests]

    def order(place: tuple[str, int]) -> tuple:
        return place[0].startswith(OWN_PROGRAMS), len(coverage.lines[place]), place

    tried = 0
    for file, line in sorted(places, key=order):
        mutants = [each for each in all_mutants(file) if each.line == line]
        for mutant in mutants[:2]:
            yield mutant.replacement()
        tried += bool(mutants)
        if tried * coverage.seconds[test] > SECONDS or tried == LINES:
            return


def applies(change: Change) -> bool:
    """Whether the old text of a mutation is in its file, once."""
    path = SNIPPETS / change[0]
    return path.is_file() and path.read_text(encoding="utf-8").count(change[1]) == 1


def known_mutations(claim: claims.Claim, old: Record | None) -> Iterator[Change]:
    """The mutation recorded before, if its text is still there."""
    if old and claim.name in old.mutations:
        file, before, after = old.mutations[claim.name]
        if applies((file, before, after)):
            yield file, before, after


def find_mutation(
    claim: claims.Claim, old: Record | None, pool: Executor, coverage: Coverage
) -> Change | None:
    """The mutation that the test of a claim about code catches, or None."""
    raising = None
    for change in chain(known_mutations(claim, old), candidates(claim.test, coverage)):
        outcome = pool.submit(run_test, claim.test, change).result().outcome
        if outcome == "failed":
            return change
        if outcome == "raised":
            raising = raising or change
    return raising


def make_record(path: Path, old: Record | None, pool: Executor) -> Record | None:
    """The record of a file of tests, or None if something is missing, which is printed."""
    try:
        comparisons, coverage = pool.submit(record, path.name).result()
    except ValueError as error:
        print(error, file=sys.stderr, flush=True)
        return None
    mutations, missed = {}, []
    for claim in claims.claims_in(path):
        for written in claim.written:
            result = pool.submit(run_test, claim.test, written[:3]).result()
            if result.outcome not in ("failed", "raised"):
                missed.append(f"{claim.test} {result.outcome} although {written.fault}")
        if claim.kind == "code" and not claim.written:
            if change := find_mutation(claim, old, pool, coverage):
                mutations[claim.name] = [*change]
            else:
                missed.append(f"{claim.test} fails on no generated mutation; write @mutation(…)")
    reads = claim_results.relevant(coverage.reads)
    measured = {each.name for each in claims.claims_in(path) if each.kind != "code"}
    kept = {test: texts for test, texts in sorted(comparisons.items()) if test in measured}
    print(f"{path.name}: {len(mutations)} mutations found", *missed, sep="\n    ", flush=True)
    key = "" if missed else claim_results.code_key(reads)
    return Record(key, reads, dict(sorted(mutations.items())), kept)


def main(options: list[str]) -> int:
    everything = "--all" in options
    files = [CLAIMS / name for name in options if name != "--all"] or claims.claim_files()
    records = claim_results.load_records()
    stale = [
        path
        for path in files
        if everything or path.name not in records or not records[path.name].is_fresh()
    ]
    environment = {"python": platform.python_version(), "torch": version("torch")}
    with process_pool() as pool, ThreadPoolExecutor(os.cpu_count()) as threads:
        made = threads.map(lambda path: make_record(path, records.get(path.name), pool), stale)
        for path, new in zip(stale, made, strict=True):
            if new:
                records[path.name] = new
            names = [each.name for each in claims.claim_files() if each.name in records]
            claim_results.save_records({name: records[name] for name in names}, environment)
    return 0 if all(path.name in records and records[path.name].is_fresh() for path in files) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
