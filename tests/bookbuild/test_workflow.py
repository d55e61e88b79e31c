"""The workflow Publish runs every test, once, before it publishes; the packages fit together."""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from built_pages import ROOT, assert_no_errors

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
    """scripts/install does not resolve them (--no-deps); of some only the files are used."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    files = tuple(f"{each['name']} " for each in pyproject["tool"]["uv"]["dependency-metadata"])
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert not done.stderr
    broken = [line for line in done.stdout.splitlines() if not line.startswith(files)]
    assert broken in ([], ["No broken requirements found."])


def requirements(name: str) -> dict[str, Requirement]:
    """The packages that a file of requirements lists, by name."""
    text = (ROOT / name).read_text(encoding="utf-8")
    listed = map(Requirement, re.findall(r"^[A-Za-z][^#\\\n]*", text, re.M))
    return {re.sub(r"[-_.]+", "-", each.name).lower(): each for each in listed}


@pytest.mark.parametrize("name", ["requirements", "requirements-test"])
def test_a_lock_follows_from_its_source(name):
    """Without the network: the same packages, each in a version that the source allows."""
    source, lock = requirements(f"{name}.in"), requirements(f"{name}.txt")
    text = (ROOT / f"{name}.txt").read_text(encoding="utf-8")
    direct = {
        re.split(r"[\[=]", entry)[0]
        for entry in re.split(r"\n(?=\w)", text)
        if re.search(rf"# +(?:via )?-r {name}\.in$", entry, re.M)
    }
    hint = f"run scripts/lock, then commit {name}.txt"
    assert direct == {*source}, hint
    assert_no_errors(
        f"{name}.txt: {package} {lock[package].specifier}, but {name}.in has {wanted}; {hint}"
        for package, wanted in source.items()
        if not wanted.specifier.contains(str(lock[package].specifier).removeprefix("=="))
    )
    pinned = requirements("requirements.txt")
    both = [package for package in lock if package in pinned]
    assert {each: lock[each].specifier for each in both} == {
        each: pinned[each].specifier for each in both
    }, "requirements-test.txt and requirements.txt differ; run scripts/lock"


def test_uv_does_not_empty_the_environment(tmp_path):
    """`uv sync` removes what pyproject.toml doesn't list, which is everything."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    uv = [sys.executable, "-m", "uv", "sync", "--offline"]
    done = subprocess.run(uv, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "marked as unmanaged" in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pyproject.toml"]


def test_no_job_that_runs_code_of_a_pull_request_may_write():
    for name, job in JOBS.items():
        may_write = "write" in job["permissions"].values()
        on_main = "github.event_name != 'pull_request'" in job.get("if", "")
        after_main = job.get("needs") == "deploy"  # which itself runs on main only
        assert not may_write or on_main or after_main, name
    text = (ROOT / ".github/workflows/preview.yml").read_text(encoding="utf-8")
    (preview,) = yaml.safe_load(text)["jobs"].values()
    assert preview["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert not any("uses" in step for step in preview["steps"]), "it runs nobody's code"
    assert not any("${{" in step["run"] for step in preview["steps"])
