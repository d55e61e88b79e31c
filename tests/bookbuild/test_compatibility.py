"""The tests of the snippets run without a built site, on Windows too (the weekly run)."""

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


@pytest.mark.depends_on("snippets/**/*", "tests/**/*.py", "scripts/**/*.py", "*.toml")
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
