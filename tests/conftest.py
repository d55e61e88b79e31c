"""Where the built site lies, how hypothesis draws, and a browser to look with."""

import functools
import http.server
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, Page, Playwright

import sample_book
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import chromium
from browser_pages import BASE, PATIENCE, SilentHandler, watch
from built_pages import ROOT, Block, Built, assert_no_errors, blocks_of, load_page
from check_cache import ENVIRONMENT, CheckCache, cache_of, runs_everything
from warm_mkdocs import WarmMkDocs

# The same examples in each run, so that a failure is one that can be repeated.
settings.register_profile("book", derandomize=True, deadline=None)
settings.load_profile("book")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many claims were proved, and how many mutations noticed."""
    outcomes: dict[str, list[str]] = {"passed": [], "failed": [], "error": []}
    for outcome, tests in outcomes.items():
        reports = terminalreporter.stats.get(outcome, [])
        tests += [report.nodeid for report in reports if "tests/claims/" in report.nodeid]
    mutations = [test for test in outcomes["passed"] if "test_the_claim_fails_if" in test]
    proved = {test.partition("[")[0] for test in outcomes["passed"]} - {
        test.partition("[")[0] for test in outcomes["failed"] + outcomes["error"]
    }
    claims = [test for test in proved if "test_mutations.py" not in test]
    if claims:
        terminalreporter.write_line(
            f"{len(claims)} claims proved; {len(mutations)} mutations, each caught by its claim"
        )
    passed = terminalreporter.stats.get("passed", [])
    cached = [each for each in passed if ("cached", True) in each.user_properties]
    if cached:
        how = "passed in an earlier run with identical files; --all repeats them"
        terminalreporter.write_line(f"{len(cached)} checks {how}")
    if terminalreporter.config.getoption("--table"):
        terminalreporter.write_line("\n| Error | Message |\n|---|---|")
        for report in passed:
            for name, message in report.user_properties:
                if name == "message":
                    error = report.nodeid.partition("[")[2].removesuffix("]")
                    terminalreporter.write_line(f"| {error} | {message} |")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--site", type=Path, default=ROOT / "site", help="the built site to test")
    parser.addoption("--all", action="store_true", help="run also redundant checks (or ALL=1)")
    table = "print the error messages of tests/site/test_*_errors.py as a table"
    parser.addoption("--table", action="store_true", help=table)


@pytest.fixture(scope="session")
def everything(pytestconfig: pytest.Config) -> bool:
    """Whether to run also what an identical earlier run or build makes redundant."""
    return runs_everything(pytestconfig)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a test pass at once that has passed with the files that it depends on."""
    for item in items:
        if (cache := cache_of(item)) and cache.has_passed(item.nodeid):
            item.user_properties.append(("cached", True))
            item.setup = item.runtest = lambda: None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "call" and report.passed and (cache := cache_of(item)):
        cache.save(item.nodeid)
    return report


@pytest.fixture(scope="session")
def site(pytestconfig: pytest.Config) -> Path:
    """The folder of the built site."""
    folder = pytestconfig.getoption("--site").resolve()
    last = folder / "zh" / "sitemap.xml"  # what a build writes last
    how = "build it with scripts/build"
    if not last.exists():
        pytest.fail(f"there is no whole site in {folder}; {how}", pytrace=False)
    pages = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    newest = max(pages, key=lambda path: path.stat().st_mtime)
    if newest.stat().st_mtime > last.stat().st_mtime:
        pytest.fail(f"{folder} is older than {newest.relative_to(ROOT)}; {how}", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def built(site: Path) -> list[Built]:
    """Every page of the built site, English ones first."""
    return [load_page(site, page) for language in LANGUAGES for page in list_pages(language)]


@pytest.fixture(scope="session")
def root(built: list[Built]) -> str:
    """The site's address, as the home page reports it."""
    home = next(page for page in built if page.url == "")
    links = (link.attributes for link in home.tree.find("link"))
    return next(link["href"] for link in links if link["rel"] == "canonical")


@pytest.fixture(scope="session")
def blocks(built: list[Built]) -> list[Block]:
    """Every block of code of the built site, in its order; the labs have tests of their own."""
    return [block for page in built if not page.source.is_notebook for block in blocks_of(page)]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small book in a temporary folder, which bookbuild reads instead of this one."""
    folder = sample_book.make(tmp_path)
    sample_book.use(folder, monkeypatch)
    return folder


@pytest.fixture(scope="session")
def mkdocs() -> Iterator[WarmMkDocs]:
    """Builds the sample book in a fork of a process that has imported MkDocs."""
    with closing(WarmMkDocs()) as process:
        yield process


# The browser


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """The order of a sum depends on the number of threads."""
    import torch  # here, since most tests of the site don't need it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def port(site: Path) -> Iterator[int]:
    """Where the built site is served."""
    handler = functools.partial(SilentHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict, playwright: Playwright, port: int
) -> dict:
    """The browser of bookbuild.publish.chromium, for which BASE is the built site."""
    return browser_type_launch_args | chromium.launch_options(
        playwright,
        f"--host-resolver-rules=MAP site.localhost 127.0.0.1:{port}",
        "--disable-background-networking",
        "--disable-component-update",
    )


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict) -> dict:
    return browser_context_args | {"permissions": ["clipboard-read", "clipboard-write"]}


@pytest.fixture(scope="session")
def check_cache(browser: Browser, everything: bool) -> CheckCache:
    """The checks of pages that have passed in this browser."""
    environment = f"{ENVIRONMENT} {browser.version}"
    code = ("tests/*.py", "tests/browser/test_all_pages.py", "scripts/bookbuild/**/*.py")
    return CheckCache(environment, code, everything)


@pytest.fixture
def context(context: BrowserContext) -> BrowserContext:
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture(params=[1280, 390])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def home(language: str) -> str:
    """The address of the home page in one language."""
    return BASE + ("zh/" if language == "zh" else "")


@pytest.fixture
def reader(page: Page, width: int) -> Iterator[Page]:
    """A browser's page in which nothing may go wrong: no error, no request to elsewhere."""
    page.set_viewport_size({"width": width, "height": 844})
    errors: list[str] = []
    watch(page, errors)
    yield page
    assert_no_errors(dict.fromkeys(errors))
