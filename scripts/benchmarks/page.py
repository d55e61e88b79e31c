"""Measure pages of the built site with Lighthouse, on a phone and on a desktop.

usage: scripts/bench page [--runs N] [--all | PAGE ...]      (PAGE such as zh/glossary/)

Serves the site as GitHub Pages does and prints one line a page: the four scores of each device
(performance, accessibility, best practices, SEO), then for the phone the first and the largest
paint and the blocking time, the larger layout shift, and the bytes of a first visit and of the
next page. A page that misses a goal is measured three times, and its medians count. Times depend
on what else the machine does, so its load is in the line. Exits with 1 if a page misses a goal.
"""

import argparse
import functools
import gzip
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from bookbuild.pages.node import node_executable
from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
LIGHTHOUSE_SCRIPT = Path(__file__).with_name("lighthouse.mjs")
SAMPLE_PAGES = [
    language + page
    for page in ("", "attention/", "labs/attention-by-hand/", "glossary/")
    for language in ("", "zh/")
]
CATEGORIES = "performance", "accessibility", "best-practices", "seo"
MIN_PHONE_PERFORMANCE = 95  # every other score: 100
MAX_LAYOUT_SHIFT = 0.01
MAX_BYTES_WITH_FORMULAS, MAX_BYTES_WITHOUT_FORMULAS = 260_000, 120_000  # of a first visit
MAX_NEXT_PAGE_BYTES = 60_000
NUM_REPEATED_RUNS = 3  # measurements of a page that misses a goal
TIME_AUDITS = {
    "FCP ms": "first-contentful-paint",
    "LCP ms": "largest-contentful-paint",
    "TBT ms": "total-blocking-time",
}
COLUMN_FORMATS = dict.fromkeys(TIME_AUDITS, ".0f") | {
    "shift": ".3f",
    "first visit": ",.0f",
    "next page": ",.0f",
}
COMPRESSED_TYPES = (
    "text/",
    "application/javascript",
    "application/json",
    "application/xml",
    "image/svg",
)
TRANSFERRED_BYTES_SCRIPT = """() => performance.getEntries()
  .map((entry) => entry.transferSize ?? 0).reduce((sum, bytes) => sum + bytes)"""


class PageHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files as GitHub Pages does: compressed, to be kept for ten minutes."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        content_type = self.guess_type(path)
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=600")
        if content_type.startswith(COMPRESSED_TYPES):
            data = gzip.compress(data, 6, mtime=0)
            content_type += "; charset=utf-8"
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serve_site() -> Iterator[str]:
    """Serve the site in a thread; yields its address."""
    handler = functools.partial(PageHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Lighthouse:
    """A process that measures pages in the browser that listens at a port."""

    def __init__(self, port: int):
        self.port = port
        command = [node_executable(), LIGHTHOUSE_SCRIPT]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def report(self, url: str, device: str) -> dict:
        assert self.process.stdin and self.process.stdout
        task = {"url": url, "port": self.port, "device": device, "onlyCategories": CATEGORIES}
        print(json.dumps(task), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


def next_page_bytes(browser: Browser, url: str) -> int:
    """The bytes that the next page transfers after a page; after the last, the previous."""
    with browser.new_context(viewport={"width": 412, "height": 823}) as context:
        tab = context.new_page()
        tab.set_default_timeout(0)  # no timeout: the machine may be busy
        tab.goto(url, wait_until="networkidle")
        link = tab.locator(".md-footer__link").last.evaluate("link => link.href")
        tab.goto(link, wait_until="networkidle")
        return tab.evaluate(TRANSFERRED_BYTES_SCRIPT)


def measure_page(browser: Browser, lighthouse: Lighthouse, url: str) -> dict[str, float]:
    """The figures of one measurement."""
    figures: dict[str, float] = {}
    phone = lighthouse.report(url, "phone")  # a CPU four times slower, slow 4G
    desktop = lighthouse.report(url, "desktop")
    for device, report in (("phone", phone), ("desktop", desktop)):
        for category in CATEGORIES:
            figures[f"{device} {category}"] = round(100 * report["categories"][category]["score"])
    for name, audit in TIME_AUDITS.items():
        figures[name] = phone["audits"][audit]["numericValue"]
    shifts = [each["audits"]["cumulative-layout-shift"] for each in (phone, desktop)]
    figures["shift"] = max(shift["numericValue"] for shift in shifts)
    requests = phone["audits"]["network-requests"]["details"]["items"]
    figures["fonts"] = sum(each["resourceType"] == "Font" for each in requests)
    figures["first visit"] = sum(each["transferSize"] for each in requests)
    figures["next page"] = next_page_bytes(browser, url)
    return figures


def missed_goals(figures: dict[str, float]) -> list[str]:
    scores = [f"{device} {category}" for device in ("phone", "desktop") for category in CATEGORIES]
    minimums = dict.fromkeys(scores, 100) | {"phone performance": MIN_PHONE_PERFORMANCE}
    first = MAX_BYTES_WITH_FORMULAS if figures["fonts"] else MAX_BYTES_WITHOUT_FORMULAS
    maximums = {"shift": MAX_LAYOUT_SHIFT, "first visit": first, "next page": MAX_NEXT_PAGE_BYTES}
    return [f"{name} < {limit}" for name, limit in minimums.items() if figures[name] < limit] + [
        f"{name} > {limit}" for name, limit in maximums.items() if figures[name] > limit
    ]


def print_row(page: str, figures: dict[str, float], missed: list[str]) -> None:
    scores = [
        "/".join(f"{figures[f'{device} {category}']:.0f}" for category in CATEGORIES)
        for device in ("phone", "desktop")
    ]
    cells = [f"{figures[name]:{len(name) + 2}{form}}" for name, form in COLUMN_FORMATS.items()]
    row = f"/{page:<28} {scores[0]:>15}  {scores[1]:>15}{''.join(cells)}{os.getloadavg()[0]:6.1f}"
    print(row, "; ".join(missed), flush=True)


def measure_pages(pages: list[str], runs: int) -> int:
    """Print a row for each page; return how many miss a goal."""
    repeated = f"of {NUM_REPEATED_RUNS} where a goal is missed"
    print(f"{os.cpu_count()} cores; medians of {runs}, or {repeated}")
    print(f"{'page':<29} {'phone':>15}  {'desktop':>15}  {'  '.join(COLUMN_FORMATS)}  load")
    count, port = 0, free_port()
    debugging = f"--remote-debugging-port={port}"
    with (
        serve_site() as address,
        sync_playwright() as playwright,
        chromium.launch(playwright, debugging) as browser,
        closing(Lighthouse(port)) as lighthouse,
    ):
        for page in pages:
            results: list[dict[str, float]] = []
            medians, missed = {}, []
            while len(results) < runs or (missed and len(results) < NUM_REPEATED_RUNS):
                results.append(measure_page(browser, lighthouse, address + page))
                medians = {name: median(each[name] for each in results) for name in results[0]}
                missed = missed_goals(medians)
            print_row(page, medians, missed)
            count += bool(missed)
    return count


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", default=SAMPLE_PAGES)
    parser.add_argument("--all", action="store_true", help="every page in both languages")
    parser.add_argument("--runs", type=int, default=1, help="measurements of each page (1)")
    options = parser.parse_args()
    pages = [page.strip("/") + "/" if page.strip("/") else "" for page in options.pages]
    if options.all:
        folders = (path.parent.relative_to(SITE) for path in SITE.rglob("index.html"))
        pages = sorted("" if folder == Path() else f"{folder}/" for folder in folders)
    for path in [SITE / page / "index.html" for page in pages or [""]]:
        if not path.is_file():
            sys.exit(f"no {path}: build it with scripts/build")
    missed = measure_pages(pages, options.runs)
    print(f"{len(pages)} pages; {missed or 'none'} missed a goal")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
