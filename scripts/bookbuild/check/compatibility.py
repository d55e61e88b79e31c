#!/usr/bin/env python3
"""Test the snippets with another version of PyTorch than the pinned one.

usage: compatibility.py oldest|newest|nightly [options of pytest]

Creates an environment in .compatibility/ with the book's pinned packages and that PyTorch,
and runs the tests of the snippets there. Requires only Python, on Linux, macOS or Windows.
"""

import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OLDEST = "2.5.1"  # SDPA has enable_gqa since 2.5
INDEX = "https://download.pytorch.org/whl"
IS_LINUX = platform.system() == "Linux"  # where PyPI has builds with CUDA
CPU = ["--retries", "0", "--extra-index-url", f"{INDEX}/cpu"] if IS_LINUX else []
PACKAGES = ["--require-hashes", "-r", "requirements.txt", "-r", "requirements-test.txt"]
TORCH = {
    "oldest": [*CPU, f"torch=={OLDEST}"],
    "newest": [*CPU, "--upgrade", "torch"],
    "nightly": ["--pre", "torch", "--index-url", f"{INDEX}/nightly/cpu"],
}
# All other tests depend on the browser, the site or the pinned version, not on PyTorch's API.
TESTS = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]
VERSIONS = (
    "import sys, torch; print('Python', sys.version.split()[0], 'PyTorch', torch.__version__)"
)


def main() -> int:
    which, *options = sys.argv[1:] or [""]
    if which not in TORCH:
        print(__doc__, file=sys.stderr)
        return 2
    folder = ROOT / ".compatibility" / which
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    for packages in (PACKAGES, TORCH[which]):
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], cwd=ROOT, check=True)
    subprocess.run([python, "-c", VERSIONS], check=True)
    return subprocess.run([python, "-m", "pytest", *TESTS, *options], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
