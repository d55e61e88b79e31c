"""A check that has passed is repeated as soon as anything that it depends on is different."""

from pathlib import Path

import pytest

import check_cache
from check_cache import CheckCache


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A project with a lock file, the code that checks, and the file that is checked."""
    monkeypatch.setattr(check_cache, "ROOT", tmp_path)
    monkeypatch.setattr(check_cache, "FOLDER", tmp_path / "cache")
    paths = {name: tmp_path / name for name in ("requirements.txt", "check.py", "page.html")}
    for name, path in paths.items():
        path.write_text(name)
    CheckCache("Linux", ["*.py"], False).save("the page", [paths["page.html"]])
    return paths


def test_what_has_passed_is_remembered_by_name(files):
    cache = CheckCache("Linux", ["*.py"], False)
    assert cache.has_passed("the page")
    assert not cache.has_passed("another page")


@pytest.mark.parametrize("name", ["requirements.txt", "check.py", "page.html"])
def test_a_changed_or_missing_file_repeats_the_check(files, name):
    files[name].write_text("changed")
    assert not CheckCache("Linux", ["*.py"], False).has_passed("the page")
    files[name].write_text(name)
    assert CheckCache("Linux", ["*.py"], False).has_passed("the page")
    files[name].unlink()
    assert not CheckCache("Linux", ["*.py"], False).has_passed("the page")


def test_another_environment_or_everything_repeats_the_check(files):
    assert not CheckCache("macOS", ["*.py"], False).has_passed("the page")
    assert not CheckCache("Linux", ["*.py"], True).has_passed("the page")
