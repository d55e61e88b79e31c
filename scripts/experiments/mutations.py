#!/usr/bin/env python3
"""Tries each mutation of the claims; records those that their tests catch.

Makes those again whose code has changed. Writes snippets/results/mutations.json.
"""

import sys
from concurrent.futures import as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
folders = [str(ROOT / folder) for folder in ("snippets", "scripts", "tests", "tests/claims")]
elsewhere = [path for path in sys.path if Path(path) != Path(__file__).parent]
sys.path[:] = [*folders, *elsewhere]  # a module here has the name of the package variants
from mutants import CaughtMutations, run_test  # noqa: E402
from test_mutations import CASES, process_pool  # noqa: E402


def main() -> None:
    record = CaughtMutations()
    missing = [case for case in CASES if not record.has(case.name)]
    print(f"{len(CASES)} mutations, {len(missing)} to try", flush=True)
    names, missed = [case.name for case in CASES], 0
    with process_pool(missing) as pool:
        futures = {pool.submit(run_test, case.test, case.mutation[:3]): case for case in missing}
        for count, future in enumerate(as_completed(futures), 1):
            outcome, output, files = future.result()
            if outcome == "failed":
                record.add(futures[future].name, files)
            else:
                missed += 1
                print(f"{futures[future].name}: {outcome}\n{output}", flush=True)
            if count % 50 == 0 or count == len(futures):
                record.write(names)
                print(f"{count} of {len(futures)}", flush=True)
    record.write(names)
    sys.exit(f"{missed} mutations were not caught" if missed else 0)


if __name__ == "__main__":
    main()
