#!/usr/bin/env python3
"""What the tests of claims about mathematics and measurements compare, such as 0.37 < 0.5.

Each test runs in a process of its own, in which tests/claims/recorder.py records its comparisons.
Writes snippets/results/claims.json, for the page Proofs, after each test; a second call runs only
the tests whose code has changed.
"""

import json
import multiprocessing
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
elsewhere = [path for path in sys.path if Path(path) != Path(__file__).parent]
sys.path[:] = [*(str(ROOT / name) for name in ("snippets", "scripts", "tests/claims")), *elsewhere]
import recorder  # noqa: E402
from bookbuild.reference import claim_results  # noqa: E402
from bookbuild.reference.claim_results import Result  # noqa: E402

PRELOADED = ["numpy", "pytest", "hypothesis.strategies", "torch", "torch._dynamo"]


def relevant_files(files: set[str]) -> list[str]:
    """The files on which the comparisons depend. Hypothesis reads all modules, this one's too."""
    folders = "snippets/", "scripts/experiments/", "tests/claims/"
    return sorted(f for f in files if f.startswith(folders) and ROOT / f != Path(__file__))


def save(results: dict[str, Result], tests: list[str]) -> None:
    """Write the results of these tests."""
    record = {
        "environment": {
            "python": platform.python_version(),
            "torch": version("torch"),
            "cores": os.cpu_count(),
        },
        "tests": {test: results[test]._asdict() for test in tests if test in results},
    }
    text = json.dumps(record, ensure_ascii=False, indent=1)
    claim_results.results_file().write_text(f"{text}\n", encoding="utf-8")


def main() -> int:
    tests = [claim.test for claim in claim_results.measured_claims()]
    results, stale = claim_results.load_results(), claim_results.stale_tests()
    failures = 0
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:
        futures = {pool.submit(recorder.record, test): test for test in stale if test in tests}
        for future in as_completed(futures):
            test = futures[future]
            try:
                comparisons, files = future.result()
            except ValueError as error:  # the test fails
                print(error, file=sys.stderr, flush=True)
                failures += 1
                continue
            files = relevant_files(files)
            results[test] = Result(claim_results.code_key(files), files, comparisons)
            save(results, tests)
            print(test, *(f"\n    {each}" for each in comparisons), sep="", flush=True)
    save(results, tests)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
