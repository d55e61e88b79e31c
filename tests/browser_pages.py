"""The built site in a browser: its addresses, waiting, and the errors of a page."""

import http.server
from collections.abc import Iterable
from contextlib import suppress

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES

# A secure address without a port, since Material compares its links to those of the sitemap.
BASE_URL = "http://site.localhost/"
TIMEOUT_MS = 60_000  # milliseconds; a working page takes far less, even on a busy machine
expect.set_options(timeout=TIMEOUT_MS)
PAGE_URLS = [
    ("zh/" if page.language == "zh" else "") + page.name.removesuffix(".md").removesuffix("index")
    for language in LANGUAGES
    for page in list_pages(language)
]
# For tests that depend on the language or on the width, but not on both together.
LANGUAGE_BY_WIDTH = {1280: "en", 390: "zh"}
parametrize_page = pytest.mark.parametrize("url", PAGE_URLS, ids=lambda url: url or "home")


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log, also to a browser that leaves before it has all of them."""

    def log_message(self, *_) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()


class SiteServer(http.server.ThreadingHTTPServer):
    """With room for all connections that a browser opens at once.

    By default five wait, and one more is dropped and tried again seconds later.
    """

    request_queue_size = 128


def absolute_url(url: str) -> str:
    return BASE_URL + (url if url.endswith("/") or not url else f"{url}/")


def record_errors(page: Page, errors: list[str], base: str = BASE_URL) -> None:
    """Record the errors and warnings of a browser's page, and its requests to other origins."""

    def record(is_error: bool, message: str) -> None:
        if is_error:
            errors.append(f"{page.url}: {message}")

    page.on("console", lambda entry: record(entry.type in ("error", "warning"), entry.text))
    page.on("pageerror", lambda error: record(True, str(error)))
    page.on("response", lambda got: record(got.status >= 400, f"{got.status} {got.url}"))
    page.on(
        "request",
        lambda sent: record(
            not sent.url.startswith((base, "data:", "blob:")), f"requests {sent.url}"
        ),
    )


# The sum of all layout shifts, also of those soon after an input.
RECORD_SHIFTS_SCRIPT = """window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });"""

# Playwright's "networkidle" waits for the end of each request that it has seen begin, and on a busy
# machine it sometimes misses an end.
NETWORK_IS_IDLE_SCRIPT = """() => {
  const now = performance.now();
  const fetched = performance.getEntriesByType("resource").length;
  if (document.readyState !== "complete" || window.idle?.fetched !== fetched) {
    window.idle = { fetched, since: now };
  }
  return now - window.idle.since > 500;
}"""


def wait_until_idle(page: Page) -> None:
    """Wait until the page is complete and has fetched nothing for half a second."""
    page.wait_for_function(NETWORK_IS_IDLE_SCRIPT)


def wait_for_route(page: Page, held_routes: list[Route]) -> Route:
    """The first request that a route's handler has put into the list."""
    while not held_routes:
        page.wait_for_timeout(10)  # handlers run while Playwright waits
    return held_routes[0]


# Code is rendered and gets its buttons and notes, and widgets start, only near the window.
EXPAND_PAGE_SCRIPT = """async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll("article > *, pre > code[style], .katex-mathml")) {
    each.style.contentVisibility = "visible";
  }
  for (const each of document.querySelectorAll("pre > code, [data-widget]")) {
    if (each.closest("pre:has(.md-code__nav), .alive")) continue;
    each.scrollIntoView({ block: "center", behavior: "instant" });
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  }
  scrollTo({ top: 0, behavior: "instant" });
  await document.fonts.ready;
}"""


def expand_page(page: Page) -> None:
    """Open all details and render the whole page."""
    page.wait_for_load_state()
    page.evaluate(EXPAND_PAGE_SCRIPT)


def axe_errors(
    page: Page,
    context: str | None = None,
    rules: Iterable[str] = (),
    disabled_rules: Iterable[str] = (),
) -> list[str]:
    """The violations that axe finds in a page or in a part of it, of all rules or of these."""
    # Without the thousands of nodes that pass; returning them takes longer than checking them.
    options: dict = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = [*rules]
    options["rules"] = {rule: {"enabled": False} for rule in disabled_rules}
    violations = Axe().run(page, context=context, options=options).response["violations"]
    return [
        f"{each['id']}: {each['help']}\n    {node['html'][:200]}"
        for each in violations
        for node in each["nodes"][:5]
    ]
