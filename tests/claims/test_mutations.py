"""Each mutation of a claim about code, made in a copy of snippets/, makes the claim's test fail.

`scripts/experiment claims` has made them, and the record is fresh while the code is the same; with
--all each is made again.
"""

import pytest

from bookbuild.generated import claim_results, claims
from evidence import mutants
from evidence.mutants import process_pool, run_pytest, run_test

CASES = [(claim.test, each) for claim in claims.all_claims() for each in claim.mutations]
SAMPLE = "test_mutations.py::test_sample_for_the_runner"


@pytest.fixture(scope="module")
def pool():
    with process_pool() as pool:
        yield pool
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("file", [path.name for path in claims.claim_files()])
def test_what_the_tests_of_a_file_have_shown_is_recorded_of_this_code(file):
    record = claim_results.load_records().get(file)
    assert record and record.is_fresh(), f"run scripts/experiment claims {file}"


@pytest.mark.slow
@pytest.mark.parametrize(("test", "mutation"), CASES, ids=lambda each: getattr(each, "fault", ""))
def test_the_claim_fails_if(pool, test, mutation):
    outcome, output = pool.submit(run_test, test, mutation[:3]).result()
    fault = mutation.fault or " became ".join(mutation.change)
    assert outcome != "passed", f"{test} passes although {fault}; make the test stricter"
    assert outcome != "did not run", f"{test} does not run on the changed copy:\n{output}"


def test_each_old_text_of_a_mutation_occurs_once_in_its_file():
    counts = {
        (test, file, old): (mutants.SNIPPETS / file).read_text(encoding="utf-8").count(old)
        for test, (file, old, *_) in CASES
    }
    assert [case for case, count in counts.items() if count != 1] == []


# The runner itself


def test_sample_for_the_runner():
    from transformer import sinusoidal_positional_encoding

    assert sinusoidal_positional_encoding(2, 2)[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "test", "expected"),
    [
        ("= angle.sin()", "= angle.cos()", SAMPLE, "failed"),
        ("= angle.sin()", "= angle.sine()", SAMPLE, "raised"),
        ("paper's base model", "base model", SAMPLE, "passed"),
        ("import math", "import nonesuch_module", "test_embeddings.py", "did not run"),
        ("import math", "import math", "test_mutations.py::test_nonesuch", "did not run"),
    ],
    ids=[
        "the claim is broken",
        "the code is broken",
        "nothing is broken",
        "an import fails",
        "the test is missing",
    ],
)
def test_the_runner_reports_the_outcome_when(pool, old, new, test, expected):
    assert pool.submit(run_test, test, ("transformer.py", old, new)).result().outcome == expected


def test_the_runner_reports_the_files_that_a_test_reads(pool):
    _, _, files = pool.submit(run_pytest, [SAMPLE], None).result()
    own = {f"tests/claims/{name}.py" for name in ("conftest", "helpers", "test_mutations")}
    assert files >= own | {"snippets/transformer.py"}
