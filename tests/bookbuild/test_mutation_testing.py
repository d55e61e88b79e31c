"""Mutation testing: the outcomes in snippets/results/ are those of this code."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from bookbuild.generated import mutation_testing
from bookbuild.generated.mutation_testing import FILES
from evidence import generated_mutants as generated
from evidence.generated_mutants import Mutant


# Trying the mutants of a changed function takes minutes, of all files hours: the nightly run asks.
@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_the_mutants_of_each_part_of_a_file_have_been_tried(file):
    message = f"run scripts/experiment mutation_testing {file}"
    assert mutation_testing.untested_parts(file) == set(), message


@pytest.mark.slow
def test_each_mutant_that_no_test_kills_is_listed_with_the_reason():
    assert mutation_testing.unexplained_survivors() == []


@pytest.fixture(scope="module", params=[True, pytest.param(False, marks=pytest.mark.slow)])
def is_killed(request) -> Iterator[Callable[..., bool]]:
    """Tells whether a test kills a mutant, in a fork of one process or in a process of its own."""
    in_fork = request.param
    kills = generated.kills_in_fork if in_fork else generated.kills_in_copy
    start, tasks = (generated.collect_tests, None) if in_fork else (None, 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, start, max_tasks_per_child=tasks) as pool:
        yield lambda *arguments: pool.submit(kills, *arguments).result()


@pytest.mark.parametrize(
    ("old", "new", "killed"),
    [
        ("n >= LIMIT", "n > LIMIT", True),
        ("n >= LIMIT", "not n < LIMIT", False),
        ("raise ValueError", "raise KeyboardInterrupt", True),  # it ends pytest, too
    ],
)
def test_a_mutant_is_killed_only_if_a_test_fails(is_killed, old, new, killed):
    code = generated.read_file("numerals.py")
    line = code[: code.index(old)].count("\n") + 1
    mutant = Mutant("numerals.py", line, code.replace(old, new), "")
    test = "test_data.py::test_the_error_for_what_is_not_a_number_in_the_range_names_it"
    assert is_killed(mutant, [test], 60) is killed
