"""Each page is HTML as the standard has it."""

import subprocess

from built_pages import ROOT, assert_no_errors


def test_html_validate_finds_no_error(site):
    """tests/validate.mjs has its rules, with the reasons for those left out."""
    command = [ROOT / ".venv/bin/node", ROOT / "tests/validate.mjs", *sorted(site.rglob("*.html"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_no_errors(done.stdout.splitlines())
