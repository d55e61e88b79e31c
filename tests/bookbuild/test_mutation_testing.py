"""Mutation testing: the outcomes in snippets/results/ are those of this code."""

import importlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType

import pytest

from bookbuild.pages import paths
from bookbuild.reference import mutation_testing
from bookbuild.reference.mutation_testing import FILES, load_results


@pytest.mark.parametrize("file", FILES)
def test_the_outcomes_of_the_mutants_are_of_this_code(file):
    record = load_results()[file]
    complete = len(record.outcomes()) == record.mutants
    message = f"stale or incomplete: run scripts/experiment mutation_testing {file}"
    assert complete and record.code == mutation_testing.hash_code(paths.SNIPPETS / file), message


def test_each_mutant_that_no_test_kills_is_listed_with_the_reason():
    assert mutation_testing.unexplained_survivors() == []


@pytest.fixture
def generated(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(paths.CLAIMS)
    return importlib.import_module("generated_mutants")


@pytest.mark.depends_on("snippets/**/*.py", "tests/claims/*.py", "scripts/bookbuild/**/*.py")
@pytest.mark.parametrize(
    ("old", "new", "killed"),
    [("n >= LIMIT", "n > LIMIT", True), ("n >= LIMIT", "not n < LIMIT", False)],
)
@pytest.mark.parametrize("in_fork", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_mutant_is_killed_only_if_a_test_fails(generated, in_fork, old, new, killed):
    code = generated.read_file("numerals.py")
    line = code[: code.index(old)].count("\n") + 1
    mutant = generated.make_mutant("numerals.py", line, code.replace(old, new))
    test = "test_data.py::test_the_error_for_a_text_out_of_range_names_the_range"
    kills = generated.kills_in_fork if in_fork else generated.kills_in_copy
    start = generated.collect_tests if in_fork else None
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), start) as pool:
        assert pool.submit(kills, mutant, [test], 60).result() is killed
