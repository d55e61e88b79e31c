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
TORCH = {
    "oldest": [f"torch=={OLDEST}"],
    "newest": ["--upgrade", "torch"],
    "nightly": ["--pre", "torch", "--index-url", f"{INDEX}/nightly/cpu"],
}
# All other tests depend on the browser, the site or the pinned version, not on PyTorch's API.
TESTS = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]


def environment_python(folder: Path) -> Path:
    """The Python of an environment, which is created if it is missing."""
    path = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    if not (folder / path).exists():
        venv.create(folder, with_pip=True)
    return folder / path


def install(python: Path, which: str) -> None:
    """Install the pinned packages, and PyTorch, without CUDA where its index has such a build."""
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    requirements = [
        option for name in ("", "-test") for option in ("-r", f"requirements{name}.txt")
    ]
    subprocess.run([*pip, "--require-hashes", *requirements], cwd=ROOT, check=True)
    cpu = []
    if platform.system() == "Linux" and which != "nightly":
        cpu = ["--retries", "0", "--extra-index-url", f"{INDEX}/cpu"]
    subprocess.run([*pip, *cpu, *TORCH[which]], cwd=ROOT, check=True)


def main() -> int:
    which, *options = sys.argv[1:] or [""]
    if which not in TORCH:
        print(__doc__, file=sys.stderr)
        return 2
    python = environment_python(ROOT / ".compatibility" / which)
    install(python, which)
    print_versions = (
        "import sys, torch; print('Python', sys.version.split()[0], 'PyTorch', torch.__version__)"
    )
    subprocess.run([python, "-c", print_versions], check=True)
    return subprocess.run([python, "-m", "pytest", *TESTS, *options], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
