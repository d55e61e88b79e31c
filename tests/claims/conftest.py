"""Fixtures that the tests of several chapters use."""

import runpy
from collections.abc import Callable, Iterator

import pytest
import torch

from helpers import DTYPES, SNIPPETS


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """The order of a sum depends on the number of threads; small models need only one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def default_print_options() -> None:
    """Undo what the example of an earlier test set for the whole process."""
    torch.set_printoptions(profile="default")


@pytest.fixture
def seeded() -> None:
    """Draw the same random numbers in every test."""
    torch.manual_seed(0)


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


@pytest.fixture(params=[False, True], ids=["post_norm", "pre_norm"])
def norm_first(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture
def printed(request: pytest.FixtureRequest, capsys) -> Callable[..., dict[str, str]]:
    """Runs an example or exercise of the module's CHAPTER; returns its output, {label: value}."""
    chapter_of_module = request.module.CHAPTER

    def run(kind: str, name: str, chapter: str = chapter_of_module) -> dict[str, str]:
        runpy.run_path(str(SNIPPETS / kind / chapter / f"{name}.py"), run_name="__main__")
        output = capsys.readouterr().out
        return dict(line.split(": ", 1) for line in output.splitlines() if ": " in line)

    return run
