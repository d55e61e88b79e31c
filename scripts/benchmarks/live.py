"""Measure the translator and the debugger in the browser, in milliseconds.

Needs a built site. Medians of five fresh pages each. The translator translates the longest number,
with greedy decoding and with a beam of four. The debugger goes through all stops of its first
sentence. Exits with 1 if a figure is above its limit.
"""

import json
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bookbuild.publish import chromium

SITE = Path(__file__).resolve().parents[2] / "site"
NUM_RUNS = 5
FIRST_RUN, STEP = "first run, from the weights' arrival, ms", "step, 95 of 100, ms"
LIMITS = {FIRST_RUN: 500, STEP: 16}
SENTENCE = "three hundred and forty-two thousand and five"
TRANSLATOR_SCRIPT = """async (text) => {
  const module = await import("/downloads/translator.js");
  const bytes = await (await fetch("/downloads/translator-float16.safetensors")).arrayBuffer();
  const start = performance.now();
  const translator = module.parse(bytes);
  const ids = translator.encode(translator.words(text));
  module.greedy(translator, ids);
  const results = { "first answer, from the weights' arrival, ms": performance.now() - start };
  for (const name of ["greedy", "beam"]) {
    const times = [];
    for (let i = 0; i < 30; i++) {
      const begin = performance.now();
      const steps = module[name](translator, ids);
      times.push((performance.now() - begin) / steps.length);
    }
    results[`${name}, ms a character`] = times.sort((a, b) => a - b)[15];
  }
  return results;
}"""
# The time when the first tensors are in a frame.
OBSERVE_SCRIPT = """new MutationObserver((_, observer) => {
  if (!document.querySelector(".debugger__tensors figure")) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (window.shown = performance.now())));
}).observe(document, { childList: true, subtree: true });"""
# Each step with its layout. Painting is done by another thread.
DEBUGGER_SCRIPT = """([firstRun, step]) => {
  const files = performance.getEntriesByType("resource");
  const model = files.filter(({ name }) => name.includes("/downloads/"));
  const start = Math.max(...model.map(({ responseEnd }) => responseEnd));
  const widget = document.querySelector(".debugger");
  const button = widget.querySelector("[data-action=step]");
  widget.querySelector("[data-action=tour]").click(); // leaves the tour
  const times = [];
  while (button.getAttribute("aria-disabled") !== "true") {
    const begin = performance.now();
    button.click();
    widget.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  return { [firstRun]: window.shown - start, [step]: times[Math.floor(0.95 * times.length)] };
}"""


def measure_once(browser: Browser) -> dict[str, float]:
    """The figures of a fresh page each."""
    with browser.new_page() as page:
        chromium.serve_from_folder(SITE, page)
        page.goto(f"{chromium.ORIGIN}/404.html")
        figures = page.evaluate(TRANSLATOR_SCRIPT, SENTENCE)
    with browser.new_page() as page:
        chromium.serve_from_folder(SITE, page)
        page.add_init_script(OBSERVE_SCRIPT)
        page.goto(f"{chromium.ORIGIN}/step-through/")
        page.locator(".debugger__start button").click()
        page.wait_for_function("() => window.shown")
        return figures | page.evaluate(DEBUGGER_SCRIPT, [FIRST_RUN, STEP])


def main() -> None:
    with sync_playwright() as playwright, chromium.launch(playwright) as browser:
        runs = [measure_once(browser) for _ in range(NUM_RUNS)]
    medians = {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}
    print(json.dumps(medians, indent=1))
    missed = [f"{name}: above {limit}" for name, limit in LIMITS.items() if medians[name] > limit]
    sys.exit("\n".join(missed) or None)


if __name__ == "__main__":
    main()
