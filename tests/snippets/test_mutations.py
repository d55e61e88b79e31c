"""The tests notice: each change of mutations*.yml, made in a copy, fails the test it names."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor

import pytest
import yaml
from mutants import HERE, SNIPPETS, Change, run

ROWS = [
    row
    for path in sorted(HERE.glob("mutations*.yml"))
    for row in yaml.safe_load(path.read_text(encoding="utf-8")) or []
]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])


def change_of(row: dict[str, str]) -> Change:
    return Change(row["file"], row["old"], row["new"])


@pytest.fixture(scope="module")
def outcome(request) -> Iterator[Callable[..., tuple[str, str]]]:
    """What becomes of a test when a change is made: two at a time, each in its own process."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "numpy", "pytest", "hypothesis.strategies"])
    futures: dict[tuple, Future[tuple[str, str]]] = {}
    with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:

        def submit(*task) -> Future[tuple[str, str]]:
            if task not in futures:
                futures[task] = pool.submit(run, *task)
            return futures[task]

        for item in request.session.items:  # those chosen on the command line
            row = getattr(item, "callspec", None) and item.callspec.params.get("row")
            if row:
                submit(row["by"])
                submit(row["by"], change_of(row))
        yield lambda *task: submit(*task).result()
        pool.shutdown(cancel_futures=True)


@every_row
def test_the_claim_fails_when(row, outcome):
    count = (SNIPPETS / row["file"]).read_text(encoding="utf-8").count(row["old"])
    assert count == 1, f"snippets/{row['file']} has {count} times: {row['old']}"
    how, said = outcome(row["by"])
    assert how == "passed", f"{row['by']} {how} in an unchanged copy:\n{said}"
    how, said = outcome(row["by"], change_of(row))
    assert how != "passed", f"{row['by']} passes although {row['what']}; sharpen it"
    assert how == "failed", f"{row['by']} {how} in the changed copy:\n{said}"


# The runner itself can tell.

TRUE = "test_mutations.py::test_of_the_runner"


def test_of_the_runner():
    from transformer import sinusoidal_positional_encoding

    assert sinusoidal_positional_encoding(2, 2)[0].tolist() == [0, 1]


def test_a_change_that_breaks_the_claim_is_noticed(outcome):
    change = Change("transformer.py", "= angle.sin()", "= angle.cos()")
    assert outcome(TRUE, change)[0] == "failed"


def test_a_change_that_breaks_nothing_is_not_noticed(outcome):
    assert (
        outcome(TRUE, Change("transformer.py", "paper's base model", "base model"))[0] == "passed"
    )


def test_a_copy_that_cannot_be_read_proves_nothing(outcome):
    change = Change("transformer.py", "import math", "import nonesuch_module")
    assert outcome("test_embeddings.py", change)[0] == "did not run"


def test_a_test_that_is_not_there_proves_nothing(outcome):
    assert outcome("test_mutations.py::test_nonesuch")[0] == "did not run"
