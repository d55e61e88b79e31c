"""The site at another address: builds are reproducible, and a fork needs no changes."""

import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE_URL, TIMEOUT_MS, SilentHandler, SiteServer, record_errors
from built_pages import ROOT, assert_no_errors

FORK_SETTINGS = {
    "SITE_URL": "https://reader.github.io/repo",
    "REPO_URL": "https://github.com/reader/repo",
}
FORK_ADDRESS = FORK_SETTINGS["SITE_URL"] + "/"
slow = pytest.mark.slow  # they build the book twice


def build_site(folder: Path, **settings: str) -> None:
    """Build the site with these settings into another folder, like scripts/build."""
    environment = {k: v for k, v in os.environ.items() if k not in ("SITE_URL", "REPO_URL")}
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "-d", folder],
        cwd=ROOT,
        env=environment | {"NO_MKDOCS_2_WARNING": "1"} | settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def file_contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def fork_site(tmp_path_factory) -> Path:
    """The site that a fork publishes, at the sub-path that GitHub Pages gives it."""
    folder = tmp_path_factory.mktemp("fork") / "repo"
    build_site(folder, **FORK_SETTINGS)
    return folder


@slow
def test_two_builds_give_the_same_bytes(fork_site, tmp_path):
    """Anyone who builds the book can compare it with the published site."""
    build_site(tmp_path, **FORK_SETTINGS)
    first, second = file_contents(fork_site), file_contents(tmp_path)
    assert first.keys() == second.keys()
    assert_no_errors(f"{name} differs" for name in first if first[name] != second[name])


@slow
def test_a_fork_links_to_its_own_site_and_repository_alone(fork_site):
    for language, folder in (("en", ""), ("zh", "zh/")):
        lab = (fork_site / folder / "labs/look-inside/index.html").read_text(encoding="utf-8")
        source = f"docs/{language}/labs/look-inside.ipynb"
        assert f'href="{FORK_SETTINGS["REPO_URL"]}/edit/main/{source}"' in lab
        colab = "https://colab.research.google.com/github/reader/repo/blob/main/"
        assert f'href="{colab}{source}"' in lab
        sitemap = (fork_site / folder / "sitemap.xml").read_text(encoding="utf-8")
        assert f"<loc>{FORK_ADDRESS}{folder}attention/</loc>" in sitemap
    upstream = re.compile(rb"transformer\.example|github\.com/example")
    found = {name: upstream.search(text) for name, text in file_contents(fork_site).items()}
    assert_no_errors(f"{name} contains {match[0]}" for name, match in found.items() if match)


@pytest.fixture(scope="module")
def fork_browser(fork_site, launch_browser, browser_type_launch_args) -> Iterator[Browser]:
    """A browser for which BASE_URL is the host of the fork's site."""
    handler = functools.partial(SilentHandler, directory=str(fork_site.parent))
    with SiteServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"--host-resolver-rules=MAP site.localhost 127.0.0.1:{server.server_port}"
        launch = browser_type_launch_args["args"]
        others = [each for each in launch if "--host-resolver-rules" not in each]
        browser = launch_browser(args=[*others, host])
        yield browser
        browser.close()
        server.shutdown()


@pytest.fixture
def fork_page(fork_browser) -> Iterator[Page]:
    page = fork_browser.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    yield page
    page.close()


@slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_translator_search_and_language_switch_work_under_a_sub_path(fork_page, language):
    errors: list[str] = []
    record_errors(fork_page, errors)  # requests outside of the sub-path fail
    home = BASE_URL + ("repo/zh/" if language == "zh" else "repo/")
    fork_page.goto(home)
    translator = fork_page.locator("[data-widget=translator].ready")
    translator.get_by_role("combobox").first.press("Enter")
    expect(translator.locator(".output b")).to_have_text("我们为什么工作？")
    fork_page.locator(".md-search__input").click()
    query = {"en": "positional encoding", "zh": "位置编码"}[language]
    fork_page.locator(".md-search__input").press_sequentially(query, delay=10)
    fork_page.keyboard.press("Shift")
    link = fork_page.locator(".md-search-result__link").first
    expect(link).to_have_attribute("href", re.compile(f"^{home}positional-encoding/"))
    link.click()
    expect(fork_page).to_have_url(re.compile(f"^{home}positional-encoding/"))
    fork_page.goto(f"{home}labs/look-inside/")
    other = {"en": "zh", "zh": "en"}[language]
    with fork_page.expect_navigation():
        fork_page.locator(f".md-select__link[hreflang={other}]").dispatch_event("click")
    there = BASE_URL + ("repo/zh/" if other == "zh" else "repo/") + "labs/look-inside/"
    expect(fork_page).to_have_url(there)
    assert_no_errors(dict.fromkeys(errors))


@pytest.mark.parametrize(
    "name",
    ["README.md", *(f"docs/{x}/{y}.md" for x in LANGUAGES for y in ("index", "proofs"))],
)
def test_the_documented_oldest_pytorch_is_the_tested_one(name):
    workflow = (ROOT / ".github/workflows/compatibility.yml").read_text(encoding="utf-8")
    (oldest,) = re.findall(r"version: oldest, torch: torch==([\d.]+)", workflow)
    assert f"PyTorch {oldest}" in (ROOT / name).read_text(encoding="utf-8")
