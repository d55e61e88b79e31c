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
BASE = "http://site.localhost/"
PATIENCE = 60_000  # milliseconds; what works takes far less, even on a busy machine
expect.set_options(timeout=PATIENCE)
PAGES = [
    ("zh/" if page.language == "zh" else "") + page.name.removesuffix(".md").removesuffix("index")
    for language in LANGUAGES
    for page in list_pages(language)
]
# For what may differ by the language or by the width, but not by both together.
LANGUAGE_AT = {1280: "en", 390: "zh"}
every_page = pytest.mark.parametrize("url", PAGES, ids=lambda url: url or "home")


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log, also to a browser that leaves before it has all of them."""

    def log_message(self, *_) -> None:
        pass

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()


def address(url: str) -> str:
    return BASE + (url if url.endswith("/") or not url else f"{url}/")


def watch(page: Page, errors: list[str], base: str = BASE) -> None:
    """Add the errors and warnings of a browser's page, and its requests to elsewhere, to a list."""

    def note(wrong: bool, what: str) -> None:
        if wrong:
            errors.append(f"{page.url}: {what}")

    page.on("console", lambda entry: note(entry.type in ("error", "warning"), entry.text))
    page.on("pageerror", lambda error: note(True, str(error)))
    page.on("response", lambda got: note(got.status >= 400, f"{got.status} {got.url}"))
    page.on(
        "request",
        lambda sent: note(not sent.url.startswith((base, "data:", "blob:")), f"asks {sent.url}"),
    )


# Playwright's "networkidle" waits for the end of each request that it has seen begin, and on a busy
# machine it misses one now and then.
NETWORK_IS_IDLE = """() => {
  const now = performance.now();
  const fetched = performance.getEntriesByType("resource").length;
  if (document.readyState !== "complete" || window.idle?.fetched !== fetched) {
    window.idle = { fetched, since: now };
  }
  return now - window.idle.since > 500;
}"""


def settle(page: Page) -> None:
    """Wait until the page is complete and has fetched nothing for half a second."""
    page.wait_for_function(NETWORK_IS_IDLE)


def wait_for_route(page: Page, held: list[Route]) -> Route:
    """The first request that a route's handler has put into the list."""
    while not held:
        page.wait_for_timeout(10)  # handlers run while Playwright waits
    return held[0]


# Code far from the window is rendered, gets its buttons and notes, and widgets start, only when
# they come near it.
RENDER_EVERYTHING = """async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll("article > *, pre > code[style], .katex-mathml")) {
    each.style.contentVisibility = "visible";
  }
  for (const each of document.querySelectorAll("pre > code, [data-widget]")) {
    each.scrollIntoView({ block: "center", behavior: "instant" });
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  }
  scrollTo({ top: 0, behavior: "instant" });
  await document.fonts.ready;
}"""


def open_everything(page: Page) -> None:
    """Open all details and render the whole page."""
    page.wait_for_load_state()
    page.evaluate(RENDER_EVERYTHING)


def axe_errors(page: Page, context: str | None = None, rules: Iterable[str] = ()) -> list[str]:
    """The violations that axe finds in a page or in a part of it; of these rules alone, if any."""
    # Without the nodes that pass, which are thousands and take longer to return than to check.
    options: dict = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = [*rules]
    found = Axe().run(page, context=context, options=options).response["violations"]
    return [
        f"{each['id']}: {each['help']}\n    {node['html'][:200]}"
        for each in found
        for node in each["nodes"][:5]
    ]
