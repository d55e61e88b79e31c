"""Mutation testing of five files: the outcomes in snippets/results/ are those of this code."""

import pytest

from bookbuild.reference import mutation_testing
from bookbuild.reference.mutation_testing import FILES, load_results


@pytest.mark.parametrize("file", FILES)
def test_the_outcomes_of_the_mutants_are_of_this_code(file):
    record = load_results()[file]
    complete = len(record.outcomes()) == record.mutants
    message = f"stale or incomplete: run scripts/experiment mutation_testing {file}"
    assert complete and record.code == mutation_testing.hash_code(file), message


def test_each_mutant_that_no_test_kills_is_listed_with_the_reason():
    assert mutation_testing.unexplained_survivors() == []
