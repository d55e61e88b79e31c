"""Paths and functions that the tests of several chapters use."""

import functools
import importlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import torch
from hypothesis import settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# On the search path, snippets/ or its mutated copy.
SNIPPETS = Path(str(find_spec("transformer").origin)).parent
DTYPES = [torch.float32, torch.float64]

few = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 10_000)


def numbers(text: str) -> list[float]:
    """Every number in a text."""
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", text)]


def close(one: torch.Tensor, other: torch.Tensor, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    """Normal numbers in float64, which leave the global generator as it is."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@functools.cache
def run_snippet(kind: str, chapter: str, name: str) -> tuple[dict, str]:
    """The globals of an example or exercise, and its output."""
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(1)  # on a busy machine threads wait for one another
    printed = io.StringIO()
    with redirect_stdout(printed):
        names = runpy.run_path(str(SNIPPETS / kind / chapter / f"{name}.py"))
    torch.set_rng_state(state)
    torch.set_num_threads(threads)
    torch.set_printoptions(profile="default")
    return names, printed.getvalue()


def measured(experiment: str) -> tuple[dict, dict]:
    """The globals of scripts/experiments/NAME.py and its results, which belong to this code."""
    names = runpy.run_path(str(ROOT / "scripts" / "experiments" / f"{experiment}.py"))
    path = SNIPPETS / "results" / f"{experiment.replace('_', '-')}.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    assert results["key"] == names["key"](), f"stale; run scripts/experiment {experiment}"
    return names, results


def load_pitfall(name: str) -> ModuleType:
    """The module pitfalls/NAME.py; importing it leaves the random state as it is."""
    with torch.random.fork_rng():
        return importlib.import_module(f"pitfalls.{name}")


def run_command(module: str, *arguments: str, **variables: str) -> str:
    """What a command of snippets/ prints; it reports nothing."""
    call = [sys.executable, "-m", module, *arguments]
    env = os.environ | {"OMP_NUM_THREADS": "1"} | variables
    run = subprocess.run(call, cwd=SNIPPETS, env=env, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout
