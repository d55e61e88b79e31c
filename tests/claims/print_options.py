"""A fixture for the tests of examples that set how tensors are printed."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def default_print_options() -> Iterator[None]:
    """An example sets it for the whole process: undo what those before and this one set."""
    torch.set_printoptions(profile="default")
    yield
    torch.set_printoptions(profile="default")
