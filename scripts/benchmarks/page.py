"""Measure pages of the built site with Lighthouse, on a phone and on a desktop.

usage: scripts/bench page [--runs N] [--all | PAGE ...]      (PAGE such as zh/glossary/)

Prints one line a page: the four scores of each device (performance, accessibility, best
practices, SEO), then for the phone the first and the largest paint and the blocking time, the
larger layout shift, and the bytes of a first visit; of N measurements the medians. Times depend on
what else the machine does, so its load is in the line. Exits with 1 if a page misses a goal; then
measure it again with --runs 3.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, StaticFileHandler

from bookbuild.pages.node import node_executable
from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
SAMPLE_PAGES = "", "attention/", "labs/attention-by-hand/", "glossary/"  # in both languages
CATEGORIES = "performance", "accessibility", "best-practices", "seo"
MIN_PHONE_PERFORMANCE = 95  # every other score: 100
MAX_LAYOUT_SHIFT = 0.01
MAX_BYTES_WITH_FORMULAS, MAX_BYTES_WITHOUT_FORMULAS = 260_000, 120_000  # of a first visit
MAX_NEXT_PAGE_BYTES = 60_000  # tests/browser/test_weight.py visits a second page
LIGHTHOUSE_COMMAND = [
    node_executable(),
    str(ROOT / "node_modules/lighthouse/cli/index.js"),
    *("--quiet", "--output=json", "--disable-full-page-screenshot"),
    f"--only-categories={','.join(CATEGORIES)}",
    f"--chrome-flags={' '.join(['--headless', *chromium.BROWSER_ARGUMENTS])}",
]
# A phone has a slow CPU and slow 4G.
PRESETS: dict[str, list[str]] = {"phone": [], "desktop": ["--preset=desktop"]}
TIME_AUDITS = {
    "FCP ms": "first-contentful-paint",
    "LCP ms": "largest-contentful-paint",
    "TBT ms": "total-blocking-time",
}
COLUMN_FORMATS = dict.fromkeys(TIME_AUDITS, ".0f") | {"shift": ".3f", "first visit": ",.0f"}


def serve_site() -> str:
    """Serve the site compressed, as GitHub Pages does; returns its address."""
    sockets = bind_sockets(0, "127.0.0.1")  # of a free port

    async def serve() -> None:
        files = {"path": SITE, "default_filename": "index.html"}
        settings = {"compress_response": True, "log_function": lambda handler: None}
        application = Application([("/(.*)", StaticFileHandler, files)], **settings)
        HTTPServer(application).add_sockets(sockets)
        await asyncio.Event().wait()

    threading.Thread(target=asyncio.run, args=[serve()], daemon=True).start()
    return f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"


def measure_page(url: str) -> dict[str, float]:
    """The figures of one measurement."""
    reports = {
        device: json.loads(subprocess.check_output([*LIGHTHOUSE_COMMAND, *preset, url]))
        for device, preset in PRESETS.items()
    }
    figures: dict[str, float] = {
        f"{device} {category}": round(100 * report["categories"][category]["score"])
        for device, report in reports.items()
        for category in CATEGORIES
    }
    audits = reports["phone"]["audits"]
    figures |= {name: audits[audit]["numericValue"] for name, audit in TIME_AUDITS.items()}
    figures["shift"] = max(
        report["audits"]["cumulative-layout-shift"]["numericValue"] for report in reports.values()
    )
    requests = audits["network-requests"]["details"]["items"]
    figures["fonts"] = sum(each["resourceType"] == "Font" for each in requests)
    figures["first visit"] = sum(each["transferSize"] for each in requests)
    return figures


def missed_goals(figures: dict[str, float]) -> list[str]:
    scores = [f"{device} {category}" for device in PRESETS for category in CATEGORIES]
    minimums = dict.fromkeys(scores, 100) | {"phone performance": MIN_PHONE_PERFORMANCE}
    max_bytes = MAX_BYTES_WITH_FORMULAS if figures["fonts"] else MAX_BYTES_WITHOUT_FORMULAS
    maximums = {"shift": MAX_LAYOUT_SHIFT, "first visit": max_bytes}
    return [f"{name} < {limit}" for name, limit in minimums.items() if figures[name] < limit] + [
        f"{name} > {limit}" for name, limit in maximums.items() if figures[name] > limit
    ]


def print_row(page: str, figures: dict[str, float], missed: list[str]) -> None:
    scores = [
        "/".join(f"{figures[f'{device} {category}']:.0f}" for category in CATEGORIES)
        for device in PRESETS
    ]
    cells = [f"{figures[name]:{len(name) + 2}{form}}" for name, form in COLUMN_FORMATS.items()]
    row = f"/{page:<28} {scores[0]:>15}  {scores[1]:>15}{''.join(cells)}{os.getloadavg()[0]:6.1f}"
    print(row, "; ".join(missed), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default_pages = [folder + page for page in SAMPLE_PAGES for folder in ("", "zh/")]
    parser.add_argument("pages", nargs="*", metavar="PAGE", default=default_pages)
    parser.add_argument("--all", action="store_true", help="every page in both languages")
    parser.add_argument("--runs", type=int, default=1, help="measurements of each page (1)")
    options = parser.parse_args()
    pages = [f"{page.strip('/') or '.'}/" for page in options.pages]
    if options.all:
        pages = sorted(f"{path.parent.relative_to(SITE)}/" for path in SITE.rglob("index.html"))
    for page in pages:
        if not (SITE / page / "index.html").is_file():
            sys.exit(f"no page {page} in {SITE}: build it with scripts/build")
    with sync_playwright() as playwright:
        browser = {"CHROME_PATH": str(chromium.executable(playwright))}
    os.environ.update(chromium.environment() | browser)
    address = serve_site()
    print(f"{os.cpu_count()} cores; medians of {options.runs}")
    print(f"{'page':<29} {'phone':>15}  {'desktop':>15}  {'  '.join(COLUMN_FORMATS)}  load")
    num_missed = 0
    for page in pages:
        results = [measure_page(address + page) for _ in range(options.runs)]
        medians = {name: median(each[name] for each in results) for name in results[0]}
        missed = missed_goals(medians)
        print_row(page, medians, missed)
        num_missed += bool(missed)
    print(f"{len(pages)} pages; {num_missed or 'none'} missed a goal")
    sys.exit(num_missed > 0)


if __name__ == "__main__":
    main()
