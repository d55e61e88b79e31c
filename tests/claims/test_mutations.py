"""Each mutation, made in a copy of snippets/, makes the test of its claim fail.

One that was caught before with identical code, as snippets/results/mutations.json records, is not
made again, except with --all.
"""

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import NamedTuple

import pytest

import mutants
from bookbuild.pages.files import write_file
from bookbuild.reference import claims
from mutants import SNIPPETS, CaughtMutations, Result, passing_tests, run_test


class Case(NamedTuple):
    """A mutation, and the test that must fail."""

    test: str
    mutation: claims.Mutation

    @property
    def test_file(self) -> str:
        return self.test.partition("::")[0]

    @property
    def name(self) -> str:
        file, old, new = self.mutation[:3]
        return f"mutation of {file}, {old!r} to {new!r}, of {self.test}"


CASES = [Case(claim.test, each) for claim in claims.all_claims() for each in claim.mutations]


# Importing transformers takes seconds.
MODELS = ("llama", "qwen3", "qwen3_moe", "gemma3", "deepseek_v3", "bert", "gpt2")
SLOW_IMPORTS = {
    "test_modern_decoders.py": [f"transformers.models.{name}.modeling_{name}" for name in MODELS]
}


def process_pool(cases: Iterable[Case] = ()) -> ProcessPoolExecutor:
    """Two processes at a time, each for one task, since a module is imported only once."""
    context = multiprocessing.get_context("forkserver")
    # torch.optim imports torch._dynamo on its first use, which takes more than a second.
    preload = ["numpy", "pytest", "hypothesis.strategies", "torch", "torch._dynamo"]
    for file in {case.test_file for case in cases}:
        preload += SLOW_IMPORTS.get(file, [])
    context.set_forkserver_preload([*preload, "_hypothesis_pytestplugin"])
    return ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1)


@pytest.fixture(scope="module")
def pool(selected) -> Iterator[ProcessPoolExecutor]:
    with process_pool(selected) as pool:
        yield pool
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def selected(request, everything) -> list[Case]:
    """The cases that the command line selects and that are not known to be caught."""
    kept = CaughtMutations()
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    cases = [spec.params["case"] for spec in specs if spec and "case" in spec.params]
    return [case for case in cases if everything or not kept.has(case.name)]


@pytest.fixture(scope="module")
def unchanged(pool, selected) -> dict[str, Future[tuple[set[str], str]]]:
    """The tests of each file that pass on an unchanged copy."""
    tests: dict[str, set[str]] = {}
    for case in selected:
        tests.setdefault(case.test_file, set()).add(case.test)
    return {file: pool.submit(passing_tests, sorted(tests[file])) for file in tests}


@pytest.fixture(scope="module")
def changed(pool, selected) -> dict[Case, Future[Result]]:
    """The result of each case's test on a copy with its mutation."""
    return {case: pool.submit(run_test, case.test, case.mutation[:3]) for case in selected}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.mutation.fault)
def test_the_claim_fails_if(case, unchanged, changed):
    file, old, _, fault, _ = case.mutation
    count = (SNIPPETS / file).read_text(encoding="utf-8").count(old)
    assert count == 1, f"snippets/{file} has the old text {count} times, not once: {old}"
    if case not in changed:
        return
    passed, output = unchanged[case.test_file].result()
    assert case.test in passed, f"{case.test} fails on an unchanged copy:\n{output}"
    outcome, output, _ = changed[case].result()
    assert outcome != "passed", f"{case.test} passes although {fault}; make the test stricter"
    assert outcome == "failed", f"{case.test} {outcome} on the changed copy:\n{output}"


def test_every_fault_has_a_different_description():
    faults = [case.mutation.fault for case in CASES]
    assert len({*faults}) == len(faults)


# The runner itself

SAMPLE = "test_mutations.py::test_sample_for_the_runner"


def test_sample_for_the_runner():
    from transformer import sinusoidal_positional_encoding

    assert sinusoidal_positional_encoding(2, 2)[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "test", "expected"),
    [
        ("= angle.sin()", "= angle.cos()", SAMPLE, "failed"),
        ("paper's base model", "base model", SAMPLE, "passed"),
        ("import math", "import nonesuch_module", "test_embeddings.py", "did not run"),
        ("import math", "import math", "test_mutations.py::test_nonesuch", "did not run"),
    ],
    ids=["the claim is broken", "nothing is broken", "an import fails", "the test is missing"],
)
def test_the_runner_reports_the_outcome_when(pool, old, new, test, expected):
    assert pool.submit(run_test, test, ("transformer.py", old, new)).result().outcome == expected


def test_the_runner_reports_the_files_that_a_test_reads(pool):
    result = pool.submit(
        run_test, SAMPLE, ("transformer.py", "import math", "import math")
    ).result()
    own = {f"tests/claims/{name}.py" for name in ("conftest", "helpers", "test_mutations")}
    assert result.files >= own | {"snippets/transformer.py"}


def test_only_tests_that_pass_on_an_unchanged_copy_count_as_passing(pool):
    missing = "test_mutations.py::test_nonesuch"
    assert pool.submit(passing_tests, [SAMPLE]).result()[0] == {SAMPLE}
    assert pool.submit(passing_tests, [missing]).result()[0] == set()


# The record


@pytest.fixture
def record(tmp_path, monkeypatch) -> CaughtMutations:
    """A record in a temporary folder with one mutation, caught by a test that read code.py."""
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    write_file(tmp_path / "code.py", "x = 1  # one\n")
    write_file(tmp_path / "tests/claims/mutants.py", "")
    mutants.code_hash.cache_clear()
    record = CaughtMutations(tmp_path / "mutations.json")
    record.add("a mutation", {"code.py"})
    record.write(["a mutation", "another mutation"])
    yield CaughtMutations(tmp_path / "mutations.json")
    mutants.code_hash.cache_clear()


def test_a_recorded_mutation_counts_as_caught(record):
    assert record.has("a mutation") and not record.has("another mutation")


@pytest.mark.parametrize(
    ("text", "caught"),
    [("x = 2\n", False), ("# a comment\nx = 1\n", True), ('"""A docstring."""\nx = 1\n', True)],
)
def test_a_recorded_mutation_is_tried_again_when_code_has_changed(record, tmp_path, text, caught):
    write_file(tmp_path / "code.py", text)
    mutants.code_hash.cache_clear()
    assert record.has("a mutation") == caught


def test_a_record_leaves_out_mutations_that_no_longer_exist(record, tmp_path):
    record.write(["another mutation"])
    assert not CaughtMutations(tmp_path / "mutations.json").has("a mutation")
