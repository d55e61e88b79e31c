"""The same site at another address: two builds are one, and a fork needs no edit."""

import functools
import http.server
import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE, PATIENCE, SilentHandler, watch
from built_pages import ROOT, assert_no_errors

FORK = {"SITE_URL": "https://reader.github.io/repo", "REPO_URL": "https://github.com/reader/repo"}
FORK_ADDRESS = FORK["SITE_URL"] + "/"


def build(folder: Path, **settings: str) -> None:
    """What scripts/build does with these settings, into another folder."""
    environment = {k: v for k, v in os.environ.items() if k not in ("SITE_URL", "REPO_URL")}
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "-d", folder],
        cwd=ROOT,
        env=environment | {"NO_MKDOCS_2_WARNING": "1"} | settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def fork(tmp_path_factory) -> Path:
    """The site that a fork publishes, at the sub-path that GitHub Pages gives it."""
    folder = tmp_path_factory.mktemp("fork") / "repo"
    build(folder, **FORK)
    return folder


@pytest.mark.depends_on(
    *("docs/**/*", "overrides/**/*", "scripts/**/*", "snippets/**/*"),
    *("tests/claims/*.py", "*.yml", "*.toml", "CITATION.cff"),
)
def test_two_builds_give_the_same_bytes(fork, tmp_path):
    """So that anyone who builds the book can check what was published."""
    build(tmp_path, **FORK)
    first, second = files(fork), files(tmp_path)
    assert first.keys() == second.keys()
    assert_no_errors(f"{name} differs" for name in first if first[name] != second[name])


def test_a_fork_names_no_address_but_its_own(fork):
    errors = []
    for name, content in files(fork).items():
        for found in re.finditer(rb"transformer\.example|github\.com/example", content):
            errors.append(f"{name} tells {found[0].decode()}")
    assert_no_errors(errors)


def test_a_fork_s_pages_tell_where_they_are_and_where_to_edit_them(fork):
    for language, folder in (("en", ""), ("zh", "zh/")):
        lab = (fork / folder / "labs/look-inside/index.html").read_text(encoding="utf-8")
        home = f"{FORK_ADDRESS}{folder}"
        assert f'<link rel="canonical" href="{home}labs/look-inside/">' in lab
        for other, place in (("en", ""), ("zh", "zh/"), ("x-default", "")):
            assert f'hreflang="{other}" href="{FORK_ADDRESS}{place}labs/look-inside/"' in lab
        source = f"docs/{language}/labs/look-inside.ipynb"
        assert f'href="{FORK["REPO_URL"]}/edit/main/{source}"' in lab
        colab = "https://colab.research.google.com/github/reader/repo/blob/main/"
        assert f'href="{colab}{source}"' in lab
        notebook = (fork / folder / "labs/look-inside.ipynb").read_text(encoding="utf-8")
        assert f'SITE = \\"{FORK_ADDRESS}\\"' in notebook
        sitemap = (fork / folder / "sitemap.xml").read_text(encoding="utf-8")
        addresses = re.findall("<loc>(.*?)</loc>", sitemap)
        assert f"{home}attention/" in addresses
        assert_no_errors(each for each in addresses if not each.startswith(home))


class Pages(SilentHandler):
    """Serves as GitHub Pages does: one page for all that isn't there, and that is nothing
    outside of the sub-path."""

    def send_error(self, code, message=None, explain=None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((Path(self.directory) / "repo/404.html").read_bytes())


@pytest.fixture(scope="module")
def browser_there(fork, launch_browser, browser_type_launch_args) -> Iterator[Browser]:
    """A browser for which BASE is the host of the fork's site."""
    handler = functools.partial(Pages, directory=str(fork.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"--host-resolver-rules=MAP site.localhost 127.0.0.1:{server.server_port}"
        launch = browser_type_launch_args["args"]
        others = [each for each in launch if "--host-resolver-rules" not in each]
        browser = launch_browser(args=[*others, host])
        yield browser
        browser.close()
        server.shutdown()


@pytest.fixture
def visitor(browser_there) -> Iterator[Page]:
    page = browser_there.new_page()
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_under_a_sub_path_the_translator_the_search_and_the_switch_work(visitor, language):
    errors: list[str] = []
    watch(visitor, errors)  # what is asked for outside of the sub-path isn't there
    home = BASE + ("repo/zh/" if language == "zh" else "repo/")
    visitor.goto(home)
    translator = visitor.locator("[data-widget=translator].ready")
    translator.get_by_role("combobox").first.press("Enter")
    expect(translator.locator(".output b")).to_have_text("我们为什么工作？")
    visitor.locator(".md-search__input").click()
    query = {"en": "positional encoding", "zh": "位置编码"}[language]
    visitor.locator(".md-search__input").press_sequentially(query, delay=10)
    visitor.keyboard.press("Shift")
    link = visitor.locator(".md-search-result__link").first
    expect(link).to_have_attribute("href", re.compile(f"^{home}positional-encoding/"))
    link.click()
    expect(visitor).to_have_url(re.compile(f"^{home}positional-encoding/"))
    visitor.locator(".md-footer__link--next").click()
    expect(visitor).to_have_url(f"{home}rotations/")
    positions = visitor.locator("[data-widget=positions]")
    positions.scroll_into_view_if_needed()
    expect(positions.locator(".live")).to_be_visible()
    visitor.locator(".md-footer__link--next").click()
    expect(visitor).to_have_url(f"{home}attention/")
    visitor.goto(f"{home}labs/look-inside/")
    other = {"en": "zh", "zh": "en"}[language]
    with visitor.expect_navigation():
        visitor.locator(f".md-select__link[hreflang={other}]").dispatch_event("click")
    there = BASE + ("repo/zh/" if other == "zh" else "repo/") + "labs/look-inside/"
    expect(visitor).to_have_url(there)
    assert_no_errors(dict.fromkeys(errors))


def test_what_is_missing_under_a_sub_path_is_reported_by_a_page_that_leads_home(visitor):
    missing: list[str] = []
    visitor.on("response", lambda got: missing.append(got.url) if got.status >= 400 else None)
    visitor.goto(f"{BASE}repo/labs/nonesuch/deep/")
    assert missing == [f"{BASE}repo/labs/nonesuch/deep/"]  # its styles and scripts are found
    links = visitor.locator("section a.md-button")
    expect(links).to_have_count(2)
    for number, home in enumerate((f"{BASE}repo/", f"{BASE}repo/zh/")):
        assert links.nth(number).evaluate("link => link.href") == home


@pytest.mark.parametrize(
    "name",
    ["README.md", *(f"docs/{x}/{y}.md" for x in LANGUAGES for y in ("index", "proofs"))],
)
def test_the_oldest_pytorch_that_is_named_is_the_one_that_is_tried(name):
    oldest = runpy.run_path(str(ROOT / "scripts/bookbuild/check/compatibility.py"))["OLDEST"]
    assert f"PyTorch {oldest}" in (ROOT / name).read_text(encoding="utf-8")
