"""Measure the search on a slow phone, in milliseconds.

Needs a built site. The page is slowed down four times, though not the worker that searches (a
query takes it 1 to 30 milliseconds), and the network is Lighthouse's slow 4G. Of each language,
medians of three fresh pages: from opening the search with a query to the first result, and, when
the texts have arrived, from the last key of a query to its results. Exits with 1 if a figure is
above its limit.
"""

import json
import statistics
import sys

from page import serve_site
from playwright.sync_api import Browser, sync_playwright

from bookbuild.publish import chromium

NUM_RUNS = 3
TEXTS_MS = 6000  # until the texts have arrived, too
FIRST_RESULT, NEXT_RESULT = "first result, ms", "result after the last key, ms"
LIMITS = {FIRST_RESULT: 2000, NEXT_RESULT: 150}
NETWORK = {"latency": 150, "downloadThroughput": 1_638_400 / 8, "uploadThroughput": 750_000 / 8}
QUERIES = {"": ("why -1e9", "checkpoint averaging"), "zh/": ("为什么要除以根号 d", "检查点平均")}
# The query arrives as from a keyboard whose last key is "Shift"; results are shown in a frame.
SEARCH_SCRIPT = """async (query) => {
  const field = document.querySelector(".md-search__input");
  const list = document.querySelector(".md-search-result__list");
  const start = performance.now();
  const shown = new Promise((resolve) => {
    new MutationObserver((_, observer) => {
      if (!list.querySelector("a")) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
    }).observe(list, { childList: true, subtree: true });
  });
  document.querySelector("#__search").checked ||= true;
  document.querySelector("#__search").dispatchEvent(new Event("change"));
  field.focus();
  field.value = query;
  field.dispatchEvent(new KeyboardEvent("keyup", { key: "Shift" }));
  return shown;
}"""


def measure_once(browser: Browser, url: str, queries: tuple[str, str]) -> dict[str, float]:
    """The figures of a fresh page."""
    with browser.new_page(viewport={"width": 390, "height": 844}) as page:
        page.goto(url)
        page.wait_for_load_state("networkidle")
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {"offline": False, **NETWORK})
        session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        first = page.evaluate(SEARCH_SCRIPT, queries[0])
        page.wait_for_timeout(TEXTS_MS)
        return {FIRST_RESULT: first, NEXT_RESULT: page.evaluate(SEARCH_SCRIPT, queries[1])}


def main() -> None:
    origin, missed = serve_site(), []
    with sync_playwright() as playwright, chromium.launch(playwright) as browser:
        for folder, queries in QUERIES.items():
            runs = [measure_once(browser, origin + folder, queries) for _ in range(NUM_RUNS)]
            medians = {name: statistics.median(run[name] for run in runs) for name in LIMITS}
            print(folder or "en/", json.dumps({name: round(ms) for name, ms in medians.items()}))
            above = [each for each, limit in LIMITS.items() if medians[each] > limit]
            missed += [f"{folder}: {each} > {LIMITS[each]}" for each in above]
    sys.exit("\n".join(missed) or None)


if __name__ == "__main__":
    main()
