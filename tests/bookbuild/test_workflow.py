"""The workflow Publish runs every test, once, before it publishes; the packages fit together."""

import subprocess
import sys

import yaml

from built_pages import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]


def test_the_shards_run_every_file_of_tests_once():
    selected_files = []
    for shard in JOBS["test"]["strategy"]["matrix"]["include"]:
        for word in shard["tests"].split():
            for path in [] if word.startswith("--") else sorted(ROOT.glob(word)):
                selected_files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    assert sorted(selected_files) == sorted((ROOT / "tests").rglob("test_*.py"))


def test_a_site_is_published_after_all_tests_have_passed():
    assert {"build", "test"} <= {*JOBS["deploy"]["needs"]}
    assert "continue-on-error" not in str(JOBS["test"])


def test_each_night_everything_runs_without_a_cache():
    events = WORKFLOW[True]  # YAML 1.1 reads the key `on` as true
    assert events["schedule"]
    for job in JOBS.values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/cache@"):
                assert step["if"] == "github.event_name == 'pull_request'"


def test_the_locked_packages_satisfy_each_others_requirements():
    """scripts/install does not resolve them (--no-deps)."""
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
