"""Runs the examples whose results figures show."""

import contextlib
import functools
import runpy
from pathlib import Path
from typing import Any

import transformer

SNIPPETS = Path(transformer.__file__).parent


@functools.cache  # for the figure in the other language
def run_example(name: str) -> dict[str, Any]:
    """The variables of an example, "examples/decoding/grid.py", after it has run."""
    with contextlib.redirect_stdout(None):
        return runpy.run_path(str(SNIPPETS / name))
