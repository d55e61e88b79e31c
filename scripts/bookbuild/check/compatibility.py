#!/usr/bin/env python3
"""Do the snippets keep what the book claims of them on another PyTorch than the pinned one?

usage: compatibility.py oldest|newest|nightly [options of pytest]

Makes .compatibility/ with the book's pinned packages and that PyTorch, and runs the
tests of the snippets there. Needs nothing but Python, on Linux, macOS or Windows.
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
# What depends on the browser, on the site or on the version itself is no question of PyTorch's.
TESTS = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]


def python_of(folder: Path) -> Path:
    """An environment's Python; a new environment if there is none."""
    place = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    if not (folder / place).exists():
        venv.create(folder, with_pip=True)
    return folder / place


def install(python: Path, which: str) -> None:
    """The book's pinned packages, and PyTorch, without CUDA where its own index has that."""
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    lists = [option for name in ("", "-test") for option in ("-r", f"requirements{name}.txt")]
    subprocess.run([*pip, "--require-hashes", *lists], cwd=ROOT, check=True)
    cpu = []
    if platform.system() == "Linux" and which != "nightly":
        cpu = ["--retries", "0", "--extra-index-url", f"{INDEX}/cpu"]
    subprocess.run([*pip, *cpu, *TORCH[which]], cwd=ROOT, check=True)


def main() -> int:
    which, *options = sys.argv[1:] or [""]
    if which not in TORCH:
        print(__doc__, file=sys.stderr)
        return 2
    python = python_of(ROOT / ".compatibility" / which)
    install(python, which)
    told = (
        "import sys, torch; print('Python', sys.version.split()[0], 'PyTorch', torch.__version__)"
    )
    subprocess.run([python, "-c", told], check=True)
    return subprocess.run([python, "-m", "pytest", *TESTS, *options], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
