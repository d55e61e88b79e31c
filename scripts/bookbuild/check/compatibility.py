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
OLDEST_PYTORCH = "2.5.1"  # SDPA has enable_gqa since 2.5
PYTORCH_INDEX_URL = "https://download.pytorch.org/whl"
IS_LINUX = platform.system() == "Linux"  # where PyPI has builds with CUDA
CPU_BUILD_OPTIONS = (
    ["--retries", "0", "--extra-index-url", f"{PYTORCH_INDEX_URL}/cpu"] if IS_LINUX else []
)
PACKAGE_OPTIONS = [
    "--no-deps",  # as in scripts/install
    "--require-hashes",
    *("-r", "requirements.txt"),
    *("-r", "requirements-test.txt"),
]
PYTORCH_OPTIONS = {
    "oldest": [*CPU_BUILD_OPTIONS, f"torch=={OLDEST_PYTORCH}"],
    "newest": [*CPU_BUILD_OPTIONS, "--upgrade", "torch"],
    "nightly": ["--pre", "torch", "--index-url", f"{PYTORCH_INDEX_URL}/nightly/cpu"],
}
# All other tests depend on the browser, the site or the pinned version, not on PyTorch's API.
PYTEST_ARGUMENTS = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]
PRINT_VERSIONS_CODE = (
    "import sys, torch; print('Python', sys.version.split()[0], 'PyTorch', torch.__version__)"
)


def main() -> int:
    version, *options = sys.argv[1:] or [""]
    if version not in PYTORCH_OPTIONS:
        print(__doc__, file=sys.stderr)
        return 2
    folder = ROOT / ".compatibility" / version
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    for packages in (PACKAGE_OPTIONS, PYTORCH_OPTIONS[version]):
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
        subprocess.run([*pip, *packages], cwd=ROOT, check=True)
    subprocess.run([python, "-c", PRINT_VERSIONS_CODE], check=True)
    return subprocess.run(
        [python, "-m", "pytest", *PYTEST_ARGUMENTS, *options], cwd=ROOT
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
