"""The claims of a few chapters run every line and branch of the model."""

import os
import subprocess
import sys

import pytest

from built_pages import ROOT

FILES = [
    ROOT / f"tests/claims/test_{name}.py"
    for name in ("positional_encoding", "layer_norm", "mask_conventions", "full_model")
]


@pytest.mark.slow
def test_every_line_and_branch_of_the_model_is_run(tmp_path):
    """In a process of its own, since recording makes tests slower by half."""
    command = [sys.executable, "-m", "pytest", "--all", "--quiet", "-p", "no:cacheprovider"]
    options = ["--cov=transformer", "--cov-report=term-missing", "--cov-fail-under=100"]
    environment = os.environ | {"COVERAGE_FILE": str(tmp_path / "coverage")}
    done = subprocess.run(
        [*command, *options, *FILES], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
