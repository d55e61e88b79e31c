"""Shared fixtures: the built site, the sample book, the browser; settings of Hypothesis."""

import functools
import gc
import itertools
import os
import signal
import threading
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import BrowserContext, Page, Playwright

import sample_book
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import chromium
from browser_pages import BASE_URL, TIMEOUT_MS, SilentHandler, SiteServer, record_errors
from built_pages import ROOT, BuiltPage, CodeBlock, assert_no_errors, load_page, page_code_blocks

# A job in the background ignores Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Each takes a minute or more. At the end of a run one of them would keep one process busy, the
# others idle.
SLOW_FILES = {
    f"test_{name}.py"
    for name in (
        *("all_pages", "attention_by_hand", "blocks", "debugger", "decoding", "pdf"),
        *("figures", "install_errors", "labs", "live", "new_chapter", "publishing", "serving"),
        *("setup_errors", "source_errors", "spreadsheet", "training_chapter", "translator"),
    )
}

# The parameters of browser tests that show one behavior in another language, on a phone or in dark
# colors.
VARIANTS = ("language", "width", "scheme")

# Firefox shows an address of this machine without the proxy, or with it, as an insecure one.
FIREFOX_PREFERENCES = {
    "network.proxy.allow_hijacking_localhost": True,
    "network.proxy.testing_localhost_is_secure_when_hijacked": True,
}

# The same examples in each run, so that a failure can be reproduced.
settings.register_profile("book", derandomize=True, deadline=None)
settings.load_profile("book")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--site", type=Path, default=ROOT / "site", help="the built site to test")
    parser.addoption("--all", action="store_true", help="run slow tests, too (or ALL=1)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "slow: runs only with --all or ALL=1, so nightly and on main"
    )
    gc.disable()  # until all tests are collected: what that creates remains


def pytest_collection_finish() -> None:
    """Let no garbage collection, and no fork, visit what the collection has created."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One worker more than there are processors, since a test of the browser often waits."""
    return (yield) + 1


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether slow tests run, and others with all their cases."""
    return runs_everything(pytestconfig)


def runs_everything(config: pytest.Config) -> bool:
    return config.getoption("--all") or os.environ.get("ALL") == "1"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow files; without --all, skip slow tests."""
    items.sort(key=lambda item: item.path.name not in SLOW_FILES)
    mark_variants(items)
    for item in items:
        if item.get_closest_marker("slow") and not runs_everything(item.config):
            item.add_marker(pytest.mark.skip(reason="slow; --all runs it"))


def mark_variants(items: list[pytest.Item]) -> None:
    """Mark all variants of a browser test but one as slow; which one differs between tests."""

    def behavior(item: pytest.Item) -> tuple[str, ...]:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        others = (f"{name}={value}" for name, value in parameters.items() if name not in VARIANTS)
        return (item.nodeid.partition("[")[0], *sorted(others))

    browser_tests = [item for item in items if item.path.parent.name == "browser"]
    for key, group in itertools.groupby(sorted(browser_tests, key=behavior), behavior):
        variants = sorted(group, key=lambda item: item.nodeid)
        del variants[zlib.crc32(repr(key).encode()) % len(variants)]
        for item in variants:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Path:
    """The folder of the built site."""
    folder = pytestconfig.getoption("--site").resolve()
    last_file = folder / "zh" / "sitemap.xml"  # the last file that a build writes
    hint = "build it with scripts/build"
    if not last_file.exists():
        pytest.fail(f"no complete site in {folder}; {hint}", pytrace=False)
    pages = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    newest = max(pages, key=lambda path: path.stat().st_mtime)
    if newest.stat().st_mtime > last_file.stat().st_mtime:
        pytest.fail(f"{folder} is older than {newest.relative_to(ROOT)}; {hint}", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def built_pages(site: Path) -> list[BuiltPage]:
    """Every page of the built site, English ones first."""
    return [load_page(site, page) for language in LANGUAGES for page in list_pages(language)]


@pytest.fixture(scope="session")
def site_url(built_pages: list[BuiltPage]) -> str:
    """The site's address, from the canonical link of the home page."""
    home = next(page for page in built_pages if page.url == "")
    links = (link.attributes for link in home.tree.find("link"))
    return next(link["href"] for link in links if link["rel"] == "canonical")


@pytest.fixture(scope="session")
def code_blocks(built_pages: list[BuiltPage]) -> list[CodeBlock]:
    """Every block of code of the built site in order, except those of the labs."""
    return [
        block
        for page in built_pages
        if not page.source.is_notebook
        for block in page_code_blocks(page)
    ]


@pytest.fixture
def sample_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sample book in a temporary folder, which bookbuild reads instead of this one."""
    folder = sample_book.make_sample_book(tmp_path)
    sample_book.set_book_paths(folder, monkeypatch)
    return folder


# The browser


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """PyTorch with one thread, since the order of a sum depends on the number of threads."""
    import torch  # here, since most tests of the site don't need it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def site_server(site: Path) -> Iterator[SiteServer]:
    """The server of the built site."""
    handler = functools.partial(SilentHandler, directory=str(site))
    with SiteServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict,
    browser_name: str,
    playwright: Playwright,
    site_server: SiteServer,
) -> dict:
    """The browser of bookbuild.publish.chromium, or with --browser firefox or webkit Playwright's.

    In each of them BASE_URL is the built site.
    """
    if browser_name != "chromium":
        proxy = {"server": f"http://127.0.0.1:{site_server.server_port}"}
        settings = {"proxy": proxy, "firefox_user_prefs": FIREFOX_PREFERENCES}
        return browser_type_launch_args | settings
    return browser_type_launch_args | chromium.launch_options(
        playwright,
        f"--host-resolver-rules=MAP site.localhost 127.0.0.1:{site_server.server_port}",
        "--disable-background-networking",
        "--disable-component-update",
    )


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict, browser_name: str) -> dict:
    if browser_name != "chromium":  # others have no such permissions
        return browser_context_args
    return browser_context_args | {"permissions": ["clipboard-read", "clipboard-write"]}


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    context.set_default_timeout(TIMEOUT_MS)
    return context


@pytest.fixture(params=[1280, 390])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def home_url(language: str) -> str:
    """The address of the home page in one language."""
    return BASE_URL + ("zh/" if language == "zh" else "")


@pytest.fixture
def checked_page(page: Page, width: int) -> Iterator[Page]:
    """A browser's page that fails the test after an error or a request to another origin."""
    page.set_viewport_size({"width": width, "height": 844})
    errors: list[str] = []
    record_errors(page, errors)
    yield page
    assert_no_errors(dict.fromkeys(errors))
