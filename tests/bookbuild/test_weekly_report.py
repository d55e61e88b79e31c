"""The weekly run reports failed jobs, and translations that are behind, in one issue each."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from built_pages import ROOT

# Records each call in a file, and lists the open issue.
FAKE_GH = """#!/bin/sh
[ "$2" != list ] || { case "$6" in *"$OPEN_TITLE"*) echo "$OPEN" ;; esac; exit; }
for each; do printf '%s\\n' "$each"; done >> "$CALLS"
"""
PENDING = "---\ntranslation: pending\n---\n\n# Page\n"


@pytest.fixture
def run_report(tmp_path: Path):
    """A function that runs the script with one page and a fake gh; returns the arguments of gh."""
    for name in ("weekly-report", "translated"):
        (tmp_path / "scripts").mkdir(exist_ok=True)
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    gh = tmp_path / "bin/gh"
    gh.parent.mkdir()
    gh.write_text(FAKE_GH)
    gh.chmod(0o755)

    def call(page: str, results: dict[str, str], title: str = "", number: str = "") -> str:
        for language in ("en", "zh"):
            (tmp_path / "docs" / language).mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs/zh/page.md").write_text(page)
        calls = tmp_path / "calls"
        calls.write_text("")
        environment = {
            "PATH": f"{gh.parent}:{os.environ['PATH']}",
            "NEEDS": json.dumps({name: {"result": result} for name, result in results.items()}),
            "RUN": "https://host.example/run/1",
            "OPEN_TITLE": title,
            "OPEN": number,
            "CALLS": str(calls),
        }
        script = tmp_path / "scripts/weekly-report"
        subprocess.run([script], env={**os.environ, **environment}, check=True)
        return calls.read_text()

    return call


def test_nothing_is_reported_when_all_jobs_succeed(run_report):
    assert run_report("# Page\n", {"snippets": "success", "links": "skipped"}) == ""


@pytest.mark.parametrize("number", ["", "12"])
def test_the_first_failure_opens_an_issue_and_the_next_is_a_comment(run_report, number):
    results = {"snippets": "failure", "links": "success"}
    calls = run_report("# Page\n", results, "Weekly run failed", number)
    assert calls.startswith(
        f"issue\ncomment\n{number}\n" if number else "issue\ncreate\n--title\nWeekly run failed\n"
    )
    assert "- snippets: failure" in calls and "links" not in calls
    assert "https://host.example/run/1" in calls
    assert "Translations" not in calls


@pytest.mark.parametrize("number", ["", "12"])
def test_pending_translations_are_listed_in_an_issue_that_is_replaced(run_report, number):
    calls = run_report(PENDING, {"snippets": "success"}, "Translations to update", number)
    assert calls.startswith(
        f"issue\nedit\n{number}\n" if number else "issue\ncreate\n--title\nTranslations to update\n"
    )
    assert "- docs/zh/page.md" in calls
    assert "failed" not in calls


def test_the_issue_is_closed_when_no_translation_is_pending(run_report):
    calls = run_report("# Page\n", {"snippets": "success"}, "Translations to update", "12")
    assert calls == "issue\nclose\n12\n"
