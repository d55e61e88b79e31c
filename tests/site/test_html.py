"""Each page is valid HTML."""

import shutil
import subprocess

import pytest

from built_pages import ROOT, assert_no_errors

# Material stops Firefox from reopening its menu by an attribute that HTML does not allow there.
VNU_IGNORED = ".*autocomplete.*is only allowed when the input type is.*"


def test_html_validate_finds_no_error(site):
    """tests/validate.mjs has its rules, with the reasons for those left out."""
    command = [ROOT / ".venv/bin/node", ROOT / "tests/validate.mjs", *sorted(site.rglob("*.html"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_no_errors(done.stdout.splitlines())


def test_the_w3c_checker_finds_no_error(site):
    java = shutil.which("java")
    if not java:
        pytest.skip("vnu needs Java, and there is none on this machine")
    jar = ROOT / "node_modules/vnu-jar/build/dist/vnu.jar"
    pages = sorted(site.rglob("*.html"))
    command = [java, "-jar", jar, "--errors-only", "--filterpattern", VNU_IGNORED, *pages]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 or done.stderr
    assert_no_errors(done.stderr.splitlines())
