"""A passed check is repeated as soon as a file that it depends on changes."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import check_cache
from check_cache import CheckCache


def make_cache(environment: str = "Linux", everything: bool = False) -> CheckCache:
    """The cache as a new test run would create it."""
    check_cache.hash_matching_files.cache_clear()
    return CheckCache(environment, ["*.py"], everything)


@pytest.fixture
def project_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """A project with a lock file, the code that checks, and the file that is checked."""
    monkeypatch.setattr(check_cache, "ROOT", tmp_path)
    monkeypatch.setattr(check_cache, "CACHE_FOLDER", tmp_path / "cache")
    paths = {name: tmp_path / name for name in ("requirements.txt", "check.py", "page.html")}
    for name, path in paths.items():
        path.write_text(name)
    make_cache().save("the page", [paths["page.html"]])
    yield paths
    check_cache.hash_matching_files.cache_clear()


def test_a_passed_check_is_remembered_by_its_name(project_files):
    assert make_cache().has_passed("the page")
    assert not make_cache().has_passed("another page")


@pytest.mark.parametrize("name", ["requirements.txt", "check.py", "page.html"])
def test_a_changed_or_missing_file_repeats_the_check(project_files, name):
    project_files[name].write_text("changed")
    assert not make_cache().has_passed("the page")
    project_files[name].write_text(name)
    assert make_cache().has_passed("the page")
    project_files[name].unlink()
    assert not make_cache().has_passed("the page")


def test_another_environment_or_the_option_all_repeats_the_check(project_files):
    assert not make_cache(environment="macOS").has_passed("the page")
    assert not make_cache(everything=True).has_passed("the page")


def test_a_marked_test_depends_on_the_files_of_its_mark_and_its_own_file(
    project_files, monkeypatch
):
    monkeypatch.delenv("ALL", raising=False)
    mark, options = pytest.mark.depends_on("page.html").mark, {"--all": False, "--table": False}
    item = SimpleNamespace(
        get_closest_marker={"depends_on": mark}.get,
        path=project_files["check.py"],
        config=SimpleNamespace(getoption=options.get),
    )

    def has_passed() -> bool:
        check_cache.hash_matching_files.cache_clear()
        return check_cache.cache_for_test(item).has_passed("test")

    assert not has_passed()
    check_cache.cache_for_test(item).save("test")
    assert has_passed()
    for name in project_files:
        project_files[name].write_text("changed")
        assert not has_passed()
        project_files[name].write_text(name)
    for option in options:
        options[option] = True
        assert not has_passed()
        options[option] = False
    monkeypatch.setenv("ALL", "1")
    assert not has_passed()


@pytest.mark.parametrize(("folder", "is_cached"), [("site", True), ("other", False)])
def test_a_test_of_another_site_than_the_built_one_is_not_cached(project_files, folder, is_cached):
    root = project_files["check.py"].parent
    options = {"--all": False, "--table": False, "--site": root / folder}
    item = SimpleNamespace(
        get_closest_marker={"depends_on": pytest.mark.depends_on("site/*.html").mark}.get,
        path=project_files["check.py"],
        config=SimpleNamespace(getoption=options.get),
    )
    assert (check_cache.cache_for_test(item) is not None) == is_cached
