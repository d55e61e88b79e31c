"""What broke in the weekly run becomes one issue, and a comment while that is open."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from built_pages import ROOT

GH = """#!/bin/sh
[ "$2" != list ] || { echo "$OPEN"; exit; }
for each; do printf '%s\\n' "$each"; done > "$TOLD"
"""
NEEDS = {
    name: {"result": result} for name, result in (("snippets", "failure"), ("links", "success"))
}


@pytest.mark.parametrize("number", ["", "12"])
def test_the_first_week_opens_an_issue_and_the_next_adds_to_it(tmp_path: Path, number: str):
    gh = tmp_path / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    told = tmp_path / "told"
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "NEEDS": json.dumps(NEEDS),
        "RUN": "https://host.example/run/1",
        "OPEN": number,
        "TOLD": str(told),
    }
    subprocess.run([ROOT / "scripts/tell"], env={**os.environ, **environment}, check=True)
    words = told.read_text()
    assert words.startswith(f"issue\ncomment\n{number}\n" if number else "issue\ncreate\n")
    assert "- snippets: failure" in words and "links" not in words
    assert "https://host.example/run/1" in words
