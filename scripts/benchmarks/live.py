#!/usr/bin/env python3
"""The translator in the browser: milliseconds a character, and until the first answer.

Needs a built site. Medians of five fresh pages each; a translation is that of
the longest number, by greedy and by a beam of four.
"""

import functools
import http.server
import json
import statistics
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5
TEXT = "three hundred and forty-two thousand and five"
MEASURE = """async (text) => {
  const module = await import("/downloads/translator.js");
  const bytes = await (await fetch("/downloads/translator-float16.safetensors")).arrayBuffer();
  const began = performance.now();
  const translator = module.parse(bytes);
  const ids = translator.encode(translator.words(text));
  module.greedy(translator, ids);
  const found = { "first answer, from the weights' arrival, ms": performance.now() - began };
  for (const name of ["greedy", "beam"]) {
    const times = [];
    for (let i = 0; i < 30; i++) {
      const start = performance.now();
      const steps = module[name](translator, ids);
      times.push((performance.now() - start) / steps.length);
    }
    found[`${name}, ms a character`] = times.sort((a, b) => a - b)[15];
  }
  return found;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args) -> None:
        pass


def main() -> None:
    handler = functools.partial(Quiet, directory=str(ROOT / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = chromium.launch(playwright)
            runs = []
            for _ in range(RUNS):
                page = browser.new_page()
                page.goto(f"http://127.0.0.1:{server.server_port}/404.html")
                runs.append(page.evaluate(MEASURE, TEXT))
                page.close()
            browser.close()
        server.shutdown()
    medians = {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}
    print(json.dumps(medians, indent=1))


if __name__ == "__main__":
    main()
