#!/usr/bin/env python3
"""Measure the translator in the browser: milliseconds per character and to the first answer.

Needs a built site. Medians of five fresh pages each; translates the
longest number, with greedy decoding and with a beam of four.
"""

import json
import statistics
from pathlib import Path

from playwright.sync_api import sync_playwright

from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
NUM_RUNS = 5
SENTENCE = "three hundred and forty-two thousand and five"
MEASURE_SCRIPT = """async (text) => {
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


def main() -> None:
    runs = []
    with sync_playwright() as playwright, chromium.launch(playwright) as browser:
        for _ in range(NUM_RUNS):
            page = browser.new_page()
            chromium.serve_from_folder(ROOT / "site", page)
            page.goto(f"{chromium.ORIGIN}/404.html")
            runs.append(page.evaluate(MEASURE_SCRIPT, SENTENCE))
            page.close()
    medians = {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}
    print(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main()
