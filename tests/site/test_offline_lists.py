"""The lists for offline reading have the hashes of the published files."""

import hashlib
import json
import os
import shutil
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from bookbuild.mkdocs_site import page_content
from bookbuild.mkdocs_site.build_state import BuildState
from bookbuild.pages import paths
from bookbuild.publish import offline
from built_pages import assert_no_errors


def language_folder(site: Path, language: str) -> Path:
    return site / "zh" if language == "zh" else site


def listed_files(site: Path, language: str) -> dict[str, tuple[str, int]]:
    return json.loads(
        (language_folder(site, language) / "offline-files.json").read_text(encoding="utf-8")
    )


def test_the_lists_have_the_hashes_of_the_published_files(site, language):
    errors, folder = [], language_folder(site, language)
    for address, (digest, size) in listed_files(site, language).items():
        name = "index.html" if address.endswith("/") or not address else ""
        data = (folder / unquote(address) / name).read_bytes()
        if (hashlib.sha256(data).hexdigest(), len(data)) != (digest, size):
            errors.append(f"{address or 'the home page'} was changed after the list was written")
    assert_no_errors(errors)


def test_a_version_is_the_hash_of_its_list(site, language):
    output = json.loads(
        (language_folder(site, language) / "offline.json").read_text(encoding="utf-8")
    )
    text = (language_folder(site, language) / "offline-files.json").read_bytes()
    assert output["key"] == hashlib.sha256(text).hexdigest()
    assert output["bytes"] == sum(size for _, size in listed_files(site, language).values())


def test_every_page_of_the_language_is_listed_and_none_of_the_other(site, built_pages, language):
    pages = {
        address for address in listed_files(site, language) if not address or address.endswith("/")
    }
    expected = {
        page.url.removeprefix("zh/") for page in built_pages if page.source.language == language
    }
    assert pages == expected


def test_unlisted_files_match_an_excluded_pattern(site, language):
    names = listed_files(site, language)
    folder = language_folder(site, language)
    unlisted = [
        name
        for path in folder.rglob("*")
        if path.is_file() and not (language == "en" and path.is_relative_to(site / "zh"))
        if (name := path.relative_to(folder).as_posix()).removesuffix("index.html") not in names
    ]
    assert_no_errors(
        name
        for name in unlisted
        if not any(fnmatch(name, each) for each in offline.EXCLUDED_PATTERNS)
    )
    for pattern in ("*.md", "feed.xml", "404.html", "offline.json"):
        assert any(fnmatch(name, pattern) for name in unlisted), pattern


def test_the_lists_change_only_if_the_site_changes(site, tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(site, copy, copy_function=os.symlink)
    before = (site / "offline.json").read_bytes(), (site / "zh/offline.json").read_bytes()
    (copy / "book.pdf").write_bytes(b"made after the build")
    offline.write_lists(copy)
    assert (copy / "offline.json").read_bytes() == before[0]
    (copy / "zh/new.txt").write_text("new")
    offline.write_lists(copy)
    assert (copy / "offline.json").read_bytes() == before[0]
    assert (copy / "zh/offline.json").read_bytes() != before[1]


def test_the_development_server_has_no_offline_button(language, monkeypatch):
    text = (paths.DOCS / language / "index.md").read_text(encoding="utf-8")
    assert text.count('data-widget="offline"') == 1
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"), meta={})
    config = SimpleNamespace(theme={"language": language}, repo_url="")
    for serving in (False, True):
        monkeypatch.setattr(page_content, "STATE", BuildState(serving=serving))
        markdown = page_content.expand_markdown(text, page, config)
        assert ('data-widget="offline"' in markdown) != serving


@pytest.mark.parametrize("name", ["offline.js", "zh/offline.js"])
def test_one_service_worker_serves_both_languages(site, name):
    assert (site / name).exists() == (name == "offline.js")
