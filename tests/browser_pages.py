"""The built site in a browser: its addresses, waiting, and the errors of a page."""

import http.server
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from built_pages import assert_no_errors

# A secure address without a port, since Material compares its links to those of the sitemap.
BASE_URL = "http://site.localhost/"
LIGHT_PAGE_URL = f"{BASE_URL}404.html"  # to call a module on
TIMEOUT_MS = 60_000  # milliseconds; a working page takes far less, even on a busy machine
expect.set_options(timeout=TIMEOUT_MS)
# For tests that depend on the language or on the width, but not on both together.
LANGUAGE_BY_WIDTH = {1280: "en", 390: "zh"}
# The widgets, and what shows that they have started.
WIDGETS = {
    "attention": ("attention/", "table >> nth=7"),
    "heads": ("learned/", "form"),
    "masks": ("mask-conventions/", ".live"),
    "pencil": ("by-hand/", ".pencil-bar"),
    "positions": ("rotations/", ".live"),
    "shapes": ("multi-head-attention/", ".live"),
    "translator": ("", "form"),
}


class SilentHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log, also to a browser that leaves before it has all of them."""

    def log_message(self, *_) -> None:
        pass

    def translate_path(self, path: str) -> str:
        """The file of an address, which a browser sends in full to a proxy."""
        return super().translate_path(path.removeprefix(BASE_URL.rstrip("/")))

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def copyfile(self, source: BinaryIO, outputfile: BinaryIO) -> None:
        """Send a file; if the server is slow, at 200 kB/s."""
        if not self.server.is_slow:
            return super().copyfile(source, outputfile)
        while part := source.read(20_000):
            time.sleep(0.1)
            outputfile.write(part)


class SiteServer(http.server.ThreadingHTTPServer):
    """With room for all connections that a browser opens at once.

    By default five wait, and one more is dropped and tried again seconds later.
    """

    request_queue_size = 128
    is_slow = False  # whether it sends files as slowly as a phone receives them


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


def parse_number(text: str) -> float:
    """The number that a widget shows: −0.707, or 2·10⁻⁷."""
    plain = text.replace("−", "-").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(plain.replace("·10", "e"))


def wait_until_idle(page: Page) -> None:
    """Wait until the page is complete and has fetched nothing for half a second."""
    page.wait_for_function(NETWORK_IS_IDLE_SCRIPT)


# Code is rendered and gets its buttons, and widgets start, only near the window.
EXPAND_PAGE_SCRIPT = """async (scroll) => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll("article > *, pre > code[style], .katex-mathml")) {
    each.style.contentVisibility = "visible";
  }
  for (const each of scroll ? document.querySelectorAll("pre > code, [data-widget]") : []) {
    const isReady = () => each.closest("pre:has(.md-code__nav), .alive");
    if (!isReady()) each.scrollIntoView({ block: "center", behavior: "instant" });
    for (let frames = 0; frames < 3 && !isReady(); frames++) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    }
  }
  scrollTo({ top: 0, behavior: "instant" });
  await document.fonts.ready;
}"""


def expand_page(page: Page, scroll: bool = True) -> None:
    """Open all details and render the whole page; scroll to each block of code and widget."""
    page.wait_for_load_state()
    page.evaluate(EXPAND_PAGE_SCRIPT, scroll)


# The rules of axe for texts, and the elements that they check.
TEXT_RULES = {
    "color-contrast": "[data-style]",
    "link-in-text-block": "a[href][data-style]",
}

# Marks the texts that show the styles of a page which have not yet been checked, up to three for
# each style, and returns these styles. The contrast of a text, and whether a link can be told from
# the text around it, depend on nothing else, and axe takes most of its time for them. The class of
# a positioned element is part of the style, because such an element can cover others. Texts that
# axe can't measure are left out: of one character, transparent, in SVG, the clipped MathML, and
# code in a summary, which has an icon. Of a formula, whose letters inherit the color of the text,
# only its colored parts are measured.
MARK_NEW_STYLES_SCRIPT = """([context, checkedStyles]) => {
  for (const each of document.getAnimations()) {
    if (each instanceof CSSTransition) each.finish();
  }
  const backgrounds = new Map([[null, ""]]);
  const background = (element) => {
    if (!backgrounds.has(element)) {
      const style = getComputedStyle(element);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter];
      if (/absolute|fixed|sticky/.test(style.position)) own.push(element.getAttribute("class"));
      const layer = own.join() === "rgba(0, 0, 0, 0),none,1,none" ? "" : `${own} < `;
      backgrounds.set(element, layer + background(element.parentElement));
    }
    return backgrounds.get(element);
  };
  const checked = new Set(checkedStyles);
  const counts = {};
  for (const each of document.querySelectorAll("[data-style]")) each.removeAttribute("data-style");
  const texts = "*:not(svg *, .katex *, summary code), .katex [style*=color], " +
    ".katex [style*=color] *";
  for (const each of document.querySelectorAll(texts)) {
    if (!each.closest(context)) continue;
    const own = [...each.childNodes].map((child) => (child.nodeType === 3 ? child.data : ""));
    if (own.join("").trim().length < 2 && !each.matches("a[href]")) continue;
    if (!each.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, textShadow, textDecorationLine } = getComputedStyle(each);
    const around = each.matches("a[href]") ? getComputedStyle(each.parentElement).color : "";
    const text = [color, fontSize, fontWeight, textShadow, textDecorationLine, around];
    const style = [...text, background(each)].join();
    counts[style] = (counts[style] ?? 0) + 1;
    if (!checked.has(style) && counts[style] <= 3) each.dataset.style = style;
  }
  return Object.keys(counts).filter((style) => !checked.has(style));
}"""
# The violations, and the styles of text that have passed.
RUN_AXE_SCRIPT = """async ([context, rules, textRules]) => {
  const selectors = Object.entries(textRules).map(([id, selector]) => ({ id, selector }));
  axe.configure({ rules: selectors });
  const options = { resultTypes: ["violations", "passes"], elementRef: true, selectors: false };
  if (rules.length) options.runOnly = rules;
  const { violations, passes } = await axe.run(context, options);
  const measured = passes
    .filter(({ id }) => id in textRules)
    .flatMap(({ nodes }) => nodes.map(({ element }) => element.dataset.style));
  return [
    violations.flatMap(({ id, help, nodes }) =>
      nodes.slice(0, 5).map(({ html }) => `${id}: ${help}\n    ${html.slice(0, 200)}`)),
    measured,
  ];
}"""


def axe_errors(
    page: Page,
    context: str = "html",
    rules: Iterable[str] = (),
    checked_styles: set[str] | None = None,
) -> list[str]:
    """The violations that axe finds in a page or in a part of it, of all rules or of these.

    Only texts whose style is not among the checked ones are measured; styles that pass are added.
    """
    styles = set() if checked_styles is None else checked_styles
    new_styles = page.evaluate(MARK_NEW_STYLES_SCRIPT, [context, [*styles]])
    rules = [*rules]
    if rules and not new_styles and {*rules} <= {*TEXT_RULES}:
        return []
    page.evaluate(AXE_SCRIPT)
    errors, measured = page.evaluate(RUN_AXE_SCRIPT, [context, rules, TEXT_RULES])
    styles.update(measured)
    return errors


SMALL_CONTROLS_SCRIPT = """(context) => [...document.querySelectorAll(context)]
  .flatMap((each) => [...each.querySelectorAll("button, input, select, summary, tbody td")])
  .filter((each) => !each.querySelector("input") && each.checkVisibility())
  .map((each) => each.closest("label") ?? each) // a click anywhere on it counts
  .map((each) => [each.outerHTML.slice(0, 99), each.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < 24)
  .map(([html, { width, height }]) => `${width} × ${height} pixels: ${html}`)"""


def check_accessibility(page: Page, context: str) -> None:
    """A part of a page is accessible in light and dark colors, its controls are at least 24 pixels
    large, and the page is not wider than the window.
    """
    for color_scheme in ("light", "dark"):
        page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")
        for rules in ((), ["target-size"]):
            assert_no_errors(axe_errors(page, context, rules))
    assert_no_errors(page.evaluate(SMALL_CONTROLS_SCRIPT, context))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# The element that covers a focused input, if any; focusing scrolls the input into view.
COVERING_ELEMENT_SCRIPT = """(input) => {
  input.focus();
  const { left, top, width, height } = input.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return input.contains(there) ? "" : there?.outerHTML.slice(0, 99) ?? "out";
}"""
