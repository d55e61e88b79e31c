"""A passed check is repeated as soon as a file that it depends on changes."""

import ast
from pathlib import Path
from types import SimpleNamespace

import pytest

import check_cache
from bookbuild.run.jobs import dependencies
from built_pages import ROOT, assert_no_errors
from check_cache import CheckCache


def forget_hashes() -> None:
    """A test run computes each hash once."""
    check_cache.hash_matching_files.cache_clear()
    check_cache.matching_files.cache_clear()


def make_cache(environment: str = "Linux", everything: bool = False) -> CheckCache:
    """The cache as a new test run would create it."""
    forget_hashes()
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
    forget_hashes()


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
        forget_hashes()
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


def project_with_pages(root: Path) -> dict[str, Path]:
    """A model, a page, what is built of it, and a test of the site, by their names."""
    names = (
        *("snippets/model.py", "docs/en/page.md", "site/index.html", "site/book.pdf"),
        *("site/zh/sitemap.xml", "snippets/.ruff_cache/0", "tests/site/test_a.py"),
    )
    files = {name: root / name for name in names}
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    forget_hashes()
    return files


@pytest.mark.parametrize(
    ("folder", "parameters", "repeating"),
    [
        ("site", [], ["model.py", "page.md", "index.html", "test_a.py"]),
        ("bookbuild", ["language"], ["model.py", "test_a.py"]),
        ("browser", ["language"], ["model.py", "page.md", "index.html"]),
        ("claims", [], ["model.py"]),
        ("claims", ["language"], ["model.py", "page.md"]),
    ],
)
def test_without_a_mark_the_folder_of_a_test_says_on_which_files_it_depends(
    project_files, monkeypatch, folder, parameters, repeating
):
    """But not on a PDF and a sitemap, whose dates change with each commit and each day, nor on what
    the linter stores."""
    monkeypatch.delenv("ALL", raising=False)
    root = project_files["check.py"].parent
    files = project_with_pages(root)
    test = root / "tests" / folder / "test_it.py"
    test.parent.mkdir(exist_ok=True)
    test.touch()
    options = {"--all": False, "--table": False, "--site": root / "site"}
    item = SimpleNamespace(
        get_closest_marker={}.get,
        path=test,
        fixturenames=parameters,
        config=SimpleNamespace(getoption=options.get),
    )
    check_cache.cache_for_test(item).save("test")
    changed = []
    for path in files.values():
        forget_hashes()
        assert check_cache.cache_for_test(item).has_passed("test")
        path.write_text("changed")
        forget_hashes()
        if not check_cache.cache_for_test(item).has_passed("test"):
            changed.append(path.name)
        path.write_text("")
    assert changed == repeating


def test_every_claim_that_reads_a_page_has_the_parameter_language():
    """So that the page is among the files that it depends on."""
    readers = []
    for path in sorted((ROOT / "tests/claims").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef):
                names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                if "DOCS" in names:
                    readers.append((path.name, node.name, [each.arg for each in node.args.args]))
    assert len(readers) > 5
    assert_no_errors(
        f"{file}: {name} reads a page and needs the parameter language"
        for file, name, parameters in readers
        if "language" not in parameters
    )


def test_a_claim_depends_on_all_files_that_it_imports_or_names():
    root = ROOT.resolve()
    known = {path for pattern in check_cache.FILES_OF_CLAIMS for path in root.glob(pattern)}
    used = {file for test in (root / "tests/claims").glob("*.py") for file in dependencies(test)}
    assert root / "scripts/bookbuild/pages/sections.py" in used
    assert used <= known, used - known


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
