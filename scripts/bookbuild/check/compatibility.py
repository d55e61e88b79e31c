#!/usr/bin/env python3
"""Test the snippets with another version of PyTorch than the pinned one.

usage: compatibility.py oldest|newest|nightly [options of pytest]

Creates an environment in .compatibility/ with the book's pinned packages and that PyTorch,
and runs the tests of the snippets there. Requires only Python, on Linux, macOS or Windows.
"""

import platform
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OLDEST_PYTORCH = "2.5.1"  # SDPA has enable_gqa since 2.5
INDEX_URL = "https://download.pytorch.org/whl"
CPU_BUILD = ["--retries", "0", "--extra-index-url", f"{INDEX_URL}/cpu"]
if platform.system() != "Linux":
    CPU_BUILD = []  # only for Linux PyPI has builds with CUDA
PYTORCH_OPTIONS = {
    "oldest": [*CPU_BUILD, f"torch=={OLDEST_PYTORCH}"],
    "newest": [*CPU_BUILD, "--upgrade", "torch"],
    "nightly": ["--pre", "torch", "--index-url", f"{INDEX_URL}/nightly/cpu"],
}
LOCKED_PACKAGES = [
    *("--no-deps", "--require-hashes"),  # as in scripts/install
    *("-r", "requirements.txt", "-r", "requirements-test.txt"),
]
# All other tests depend on the browser, the site or the pinned version, not on PyTorch's API.
TESTS = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]


def main() -> int:
    version, *options = sys.argv[1:] or [""]
    if version not in PYTORCH_OPTIONS:
        print(__doc__, file=sys.stderr)
        return 2
    folder = ROOT / ".compatibility" / version
    python = folder / ("Scripts/python.exe" if platform.system() == "Windows" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    for packages in (LOCKED_PACKAGES, PYTORCH_OPTIONS[version]):
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], cwd=ROOT, check=True)
    code = "import sys, torch; print('Python', sys.version, 'PyTorch', torch.__version__)"
    subprocess.run([python, "-c", code], check=True)
    return subprocess.run([python, "-m", "pytest", *TESTS, *options], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
