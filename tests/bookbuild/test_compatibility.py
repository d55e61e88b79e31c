"""The tests of the snippets run on Windows too; the locked packages fit together."""

import subprocess
import sys

import pytest

from built_pages import ROOT

# As on Windows, without the modules that Python has only on other systems.
HIDE_UNIX_MODULES = """
import sys
for name in ("fcntl", "resource", "termios"):
    sys.modules[name] = None
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_the_tests_of_the_snippets_load_without_modules_that_windows_lacks():
    options = ["-q", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
    tests = ["tests/claims", "--ignore=tests/claims/test_mutations.py"]
    done = subprocess.run(
        [sys.executable, "-c", HIDE_UNIX_MODULES, *options, *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_the_locked_packages_satisfy_each_others_requirements():
    """scripts/install does not resolve them (--no-deps)."""
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
