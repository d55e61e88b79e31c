"""A check that has passed is repeated as soon as anything that it depends on is different."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import check_cache
from check_cache import CheckCache


def cache(environment: str = "Linux", everything: bool = False) -> CheckCache:
    """The cache of a run that begins now."""
    check_cache.code_hashes.cache_clear()
    return CheckCache(environment, ["*.py"], everything)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A project with a lock file, the code that checks, and the file that is checked."""
    monkeypatch.setattr(check_cache, "ROOT", tmp_path)
    monkeypatch.setattr(check_cache, "FOLDER", tmp_path / "cache")
    paths = {name: tmp_path / name for name in ("requirements.txt", "check.py", "page.html")}
    for name, path in paths.items():
        path.write_text(name)
    cache().save("the page", [paths["page.html"]])
    yield paths
    check_cache.code_hashes.cache_clear()


def test_what_has_passed_is_remembered_by_name(files):
    assert cache().has_passed("the page")
    assert not cache().has_passed("another page")


@pytest.mark.parametrize("name", ["requirements.txt", "check.py", "page.html"])
def test_a_changed_or_missing_file_repeats_the_check(files, name):
    files[name].write_text("changed")
    assert not cache().has_passed("the page")
    files[name].write_text(name)
    assert cache().has_passed("the page")
    files[name].unlink()
    assert not cache().has_passed("the page")


def test_another_environment_or_everything_repeats_the_check(files):
    assert not cache(environment="macOS").has_passed("the page")
    assert not cache(everything=True).has_passed("the page")


def test_a_marked_test_depends_on_the_files_of_its_mark_and_on_its_own(files, monkeypatch):
    monkeypatch.delenv("ALL", raising=False)
    mark, options = pytest.mark.depends_on("page.html").mark, {"--all": False, "--table": False}
    item = SimpleNamespace(
        get_closest_marker={"depends_on": mark}.get,
        path=files["check.py"],
        config=SimpleNamespace(getoption=options.get),
    )

    def has_passed() -> bool:
        check_cache.code_hashes.cache_clear()
        return check_cache.cache_of(item).has_passed("test")

    assert not has_passed()
    check_cache.cache_of(item).save("test")
    assert has_passed()
    for name in files:
        files[name].write_text("changed")
        assert not has_passed()
        files[name].write_text(name)
    for option in options:
        options[option] = True
        assert not has_passed()
        options[option] = False
    monkeypatch.setenv("ALL", "1")
    assert not has_passed()
