"""The tests notice: each change of mutations*.yml, made in a copy, fails the test it names."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor

import pytest
import yaml

from mutants import HERE, SNIPPETS, Change, passing, run

ROWS = [
    row
    for path in sorted(HERE.glob("mutations*.yml"))
    for row in yaml.safe_load(path.read_text(encoding="utf-8")) or []
]
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])


def change_of(row: dict[str, str]) -> Change:
    return Change(row["file"], row["old"], row["new"])


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Two processes at a time, each for one task, since it must load nothing twice."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "numpy", "pytest", "hypothesis.strategies"])
    with ProcessPoolExecutor(2, mp_context=context, max_tasks_per_child=1) as pool:
        yield pool
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def rows(request) -> list[dict[str, str]]:
    """Those chosen on the command line."""
    specs = [getattr(item, "callspec", None) for item in request.session.items]
    return [spec.params["row"] for spec in specs if spec and "row" in spec.params]


@pytest.fixture(scope="module")
def unchanged(pool, rows) -> dict[str, Future[tuple[set[str], str]]]:
    """Of each file of tests, those that pass in an unchanged copy."""
    files: dict[str, set[str]] = {}
    for row in rows:
        files.setdefault(row["by"].partition("::")[0], set()).add(row["by"])
    return {file: pool.submit(passing, sorted(tests)) for file, tests in files.items()}


@pytest.fixture(scope="module")
def changed(pool, rows) -> dict[str, Future[tuple[str, str]]]:
    """What becomes of each row's test when its change is made."""
    return {row["what"]: pool.submit(run, row["by"], change_of(row)) for row in rows}


@every_row
def test_the_claim_fails_when(row, unchanged, changed):
    count = (SNIPPETS / row["file"]).read_text(encoding="utf-8").count(row["old"])
    assert count == 1, f"snippets/{row['file']} has {count} times: {row['old']}"
    file, _, _ = row["by"].partition("::")
    passed, said = unchanged[file].result()
    name = row["by"].partition("[")[0]
    assert name in passed, f"{name} doesn't pass in an unchanged copy:\n{said}"
    how, said = changed[row["what"]].result()
    assert how != "passed", f"{row['by']} passes although {row['what']}; sharpen it"
    assert how == "failed", f"{row['by']} {how} in the changed copy:\n{said}"


def test_each_change_has_a_name_of_its_own():
    assert len({row["what"] for row in ROWS}) == len(ROWS)


# The runner itself can tell.

TRUE = "test_mutations.py::test_of_the_runner"


def test_of_the_runner():
    from transformer import sinusoidal_positional_encoding

    assert sinusoidal_positional_encoding(2, 2)[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("old", "new", "test", "how"),
    [
        ("= angle.sin()", "= angle.cos()", TRUE, "failed"),
        ("paper's base model", "base model", TRUE, "passed"),
        ("import math", "import nonesuch_module", "test_embeddings.py", "did not run"),
        ("import math", "import math", "test_mutations.py::test_nonesuch", "did not run"),
    ],
    ids=["breaks the claim", "breaks nothing", "can't be read", "is asked of no test"],
)
def test_the_runner_says_what_becomes_of_a_claim_when_a_change(pool, old, new, test, how):
    assert pool.submit(run, test, Change("transformer.py", old, new)).result()[0] == how


def test_what_fails_without_a_change_is_not_taken_for_passing(pool):
    wrong = "test_mutations.py::test_that_is_not_there"
    assert pool.submit(passing, [TRUE]).result()[0] == {TRUE}
    assert pool.submit(passing, [wrong]).result()[0] == set()
