"""Measure how fast, light and valid the pages are: Lighthouse, axe, html-validate, vnu, bytes.

usage: scripts/bench page [--runs 5] [--quick] [--bare] [PAGE ...]
       scripts/bench page --all [--runs 3]

Serves the built site as GitHub Pages does and measures four pages in both languages, or the pages
named (zh/glossary/). --all measures every page in both languages with Lighthouse and prints one
table; axe, html-validate and JavaScript off are then left to the test suite, which covers every
page. Exits with 1 if a goal is missed. Lighthouse's figures are medians of the runs; they depend on
what else the machine does, so its load is printed with them. --quick leaves Lighthouse out; --bare
also measures the phone without Material's script, which is the most that can still be gained.
"""

import argparse
import functools
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
NODE = str(ROOT / ".venv/bin/node")
SAMPLE_PAGES = [
    language + page
    for page in ("", "attention/", "labs/attention-by-hand/", "glossary/")
    for language in ("", "zh/")
]
CATEGORIES = "performance", "accessibility", "best-practices", "seo"
PHONE_PERFORMANCE = 95
SHIFT = 0.01
DESKTOP_PERFORMANCE = 100
RUNS, RUNS_OF_ALL = 5, 3  # 52 pages, phone and desktop, 3 runs each: 312 reports
WITH_FORMULAS, WITHOUT_FORMULAS, SECOND = 260_000, 120_000, 60_000  # bytes
COMPRESSED = "text/", "application/javascript", "application/json", "application/xml", "image/svg"
STATUS_LINES = 100  # bytes of a response's first line, Server, Date and the empty line
THEME_SCRIPT = re.compile(rb"<script[^>]*/bundle\.[^>]*></script>")


class PageHandler(http.server.SimpleHTTPRequestHandler):
    """Serve the site as GitHub Pages does; record the bytes of each response with its headers."""

    protocol_version = "HTTP/1.1"
    bare = False  # leave out Material's script

    def __init__(self, *args, sent: list[tuple[str, int]], **options):
        self.sent = sent
        super().__init__(*args, **options)

    def log_message(self, format: str, *args) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        exists = path.is_file()
        content_type = self.guess_type(str(path if exists else "404.html"))
        body = (path if exists else SITE / "404.html").read_bytes()
        if self.bare:
            body = THEME_SCRIPT.sub(b"", body)
        headers = {"Content-Type": content_type, "Cache-Control": "max-age=600"}
        if content_type.startswith(COMPRESSED):
            body = gzip.compress(body, 6, mtime=0)
            headers |= {
                "Content-Type": f"{content_type}; charset=utf-8",
                "Content-Encoding": "gzip",
                "Vary": "Accept-Encoding",
            }
        headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        status = 200 if exists else 404
        if self.headers["If-None-Match"] == headers["ETag"]:
            status, body = 304, b""
        headers["Content-Length"] = str(len(body))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # the browser was closed
            self.wfile.write(body)
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        self.sent.append((self.path, STATUS_LINES + len("".join(lines)) + len(body)))


@contextmanager
def serve_site(bare: bool = False) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """Yield the site's address and a list that receives the path and bytes of each response."""
    sent: list[tuple[str, int]] = []
    handler_class = type("BareHandler", (PageHandler,), {"bare": True}) if bare else PageHandler
    handler = functools.partial(handler_class, directory=str(SITE), sent=sent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()


class Visit(NamedTuple):
    """Bytes transferred by a first visit and by a click to the next page."""

    first: int
    fonts: int  # part of the first
    second: int
    elsewhere: list[str]  # requests to other origins

    @property
    def goal(self) -> int:
        return WITH_FORMULAS if self.fonts else WITHOUT_FORMULAS


def visit(browser: Browser, address: str, page: str, sent: list[tuple[str, int]]) -> Visit:
    """Open the page with an empty cache, then follow the link to the next page."""
    context = browser.new_context(viewport={"width": 412, "height": 823})
    tab = context.new_page()
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    sent.clear()
    tab.goto(address + page, wait_until="networkidle")
    first, fonts = sum(n for _, n in sent), sum(n for path, n in sent if "/fonts/" in path)
    sent.clear()
    tab.locator(".md-footer__link--next").click()
    tab.wait_for_url(lambda url: url != address + page)
    tab.wait_for_load_state("networkidle")
    second = sum(n for _, n in sent)
    context.close()
    own = (address, "data:", "blob:")
    return Visit(first, fonts, second, [url for url in requests if not url.startswith(own)])


class Lighthouse(NamedTuple):
    """Medians of Lighthouse's scores, 0 to 100, and of the times behind the performance score."""

    scores: list[float]
    times: dict[str, float]  # milliseconds
    shift: float

    def meets(self, performance: float) -> bool:
        return self.scores[0] >= performance and min(self.scores[1:]) == 100

    def __str__(self) -> str:
        return " / ".join(f"{score:.0f}" for score in self.scores)


TIMES = {
    "FCP": "first-contentful-paint",
    "LCP": "largest-contentful-paint",
    "TBT": "total-blocking-time",
    "SI": "speed-index",
}


def run_lighthouse(address: str, chrome: dict[str, str], runs: int, *options: str) -> Lighthouse:
    """Measure on a phone as Lighthouse simulates it: a CPU four times slower, slow 4G."""
    reports = []
    for _ in range(runs):
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            subprocess.run(
                [
                    *(NODE, str(ROOT / "node_modules/lighthouse/cli/index.js"), address),
                    *("--quiet", "--output=json", f"--output-path={report.name}"),
                    f"--only-categories={','.join(CATEGORIES)}",
                    "--chrome-flags=--headless --no-sandbox --disable-gpu",
                    *options,
                ],
                env=chrome,
                check=True,
            )
            reports.append(json.loads(Path(report.name).read_text()))

    def median(audit: str) -> float:
        return statistics.median(each["audits"][audit]["numericValue"] for each in reports)

    scores = [
        round(100 * statistics.median(each["categories"][name]["score"] for each in reports))
        for name in CATEGORIES
    ]
    times = {label: median(audit) for label, audit in TIMES.items()}
    return Lighthouse(scores, times, median("cumulative-layout-shift"))


def browser_tests(pages: list[str]) -> dict[str, dict[str, bool]]:
    """For each page, whether the test of all pages passes."""
    tests = {
        "axe, light and dark; without JavaScript": (
            "tests/browser/test_all_pages.py::test_page_is_complete_and_has_no_errors"
        ),
    }
    names = {page: f"[chromium-{page.removesuffix('/') or 'home'}]" for page in pages}
    names |= {"zh/": "[chromium-zh/]"} if "zh/" in pages else {}
    selected = [test + name for name in names.values() for test in tests.values()]
    command = [sys.executable, "-m", "pytest", "--all", "-q", "-rA", "--tb=short", *selected]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    passed = set(re.findall(r"^PASSED (\S+)", process.stdout, re.M))
    if len(passed) < len(selected):
        print(process.stdout[-4000:])
    return {
        page: {label: test + name in passed for label, test in tests.items()}
        for page, name in names.items()
    }


def html_errors(path: Path) -> list[str]:
    """Errors of html-validate; the rules are in tests/validate.mjs."""
    command = [NODE, str(ROOT / "tests/validate.mjs"), str(path)]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    return process.stdout.splitlines()


# Material stops Firefox from reopening its menu by an attribute that HTML does not allow there.
VNU_IGNORED = ".*autocomplete.*is only allowed when the input type is.*"


def vnu_errors(path: Path) -> list[str] | None:
    """Errors of the W3C's checker, or None without Java."""
    java, jar = shutil.which("java"), ROOT / "node_modules/vnu-jar/build/dist/vnu.jar"
    if not java or not jar.exists():
        return None
    command = [java, "-jar", str(jar), "--errors-only", "--filterpattern", VNU_IGNORED, str(path)]
    return subprocess.run(command, capture_output=True, text=True).stderr.splitlines()


class Table:
    """Print the figures of a page, each with its goal, and count the missed goals."""

    def __init__(self) -> None:
        self.missed = 0

    def row(self, label: str, figure: str, goal: str = "", met: bool | None = None) -> None:
        verdict = "" if met is None else "met" if met else "NOT MET"
        self.missed += met is False
        print(f"  {label:<24}{figure:<38}{goal:<26}{verdict}".rstrip(), flush=True)

    def count(self, label: str, errors: list[str]) -> None:
        self.row(label, str(len(errors)), "0", not errors)
        for error in errors[:5]:
            print(f"      {error}")


def format_times(result: Lighthouse) -> str:
    return ", ".join(
        f"{name} {value:.0f} ms" if name == "TBT" else f"{name} {value / 1000:.1f} s"
        for name, value in result.times.items()
    )


def load_average() -> str:
    return " ".join(f"{value:.1f}" for value in os.getloadavg())


def measure_page(page: str, browser: Browser, chrome, options, tests, table: Table) -> None:
    """Print everything that is measured of one page."""
    with serve_site() as (address, sent):
        print(f"\n/{page}   (load average: {load_average()})")
        if not options.quick:
            desktop = run_lighthouse(address + page, chrome, options.runs, "--preset=desktop")
            goal = f"{DESKTOP_PERFORMANCE} / 100 / 100 / 100"
            met = desktop.meets(DESKTOP_PERFORMANCE)
            table.row("Lighthouse, desktop", str(desktop), goal, met)
            phone = run_lighthouse(address + page, chrome, options.runs)
            goal = f"{PHONE_PERFORMANCE} / 100 / 100 / 100"
            table.row("Lighthouse, phone", str(phone), goal, phone.meets(PHONE_PERFORMANCE))
            table.row("", format_times(phone))
            shift = max(desktop.shift, phone.shift)
            table.row("layout shift", f"{shift:.3f}", f"at most {SHIFT}", shift <= SHIFT)
        bytes_sent = visit(browser, address, page, sent)
    if options.bare and not options.quick:
        with serve_site(bare=True) as (address, _):
            bare = run_lighthouse(address + page, chrome, options.runs)
            table.row("  without theme's script", f"{bare}   ({format_times(bare)})")
    for label, passed in tests.items():
        table.row(label, "no errors" if passed else "errors, see above", "no errors", passed)
    path = SITE / page / "index.html"
    table.count("html-validate", html_errors(path))
    errors = vnu_errors(path)
    if errors is None:
        table.row("vnu", "skipped: no Java on this machine")
    else:
        table.count("vnu", errors)
    first, goal = bytes_sent.first, bytes_sent.goal
    size = f"{first / 1000:.0f} KB ({bytes_sent.fonts / 1000:.0f} KB of fonts)"
    table.row("first visit", size, f"at most {goal // 1000} KB", first <= goal)
    size = f"{bytes_sent.second / 1000:.0f} KB"
    table.row("second page", size, f"at most {SECOND // 1000} KB", bytes_sent.second <= SECOND)
    table.count("requests to other origins", bytes_sent.elsewhere)


def measure_all(browser: Browser, chrome: dict[str, str], runs: int) -> int:
    """Print one line a page, every page in both languages; return how many miss a goal."""
    line = "{:<32}{:>19}{:>21}{:>8}{:>7}{:>8}{:>7}{:>7}   {}"
    goals = (
        f">= {PHONE_PERFORMANCE}, 100 ...",
        f"{DESKTOP_PERFORMANCE}, 100 ...",
        *("", "", f"<= {SHIFT}", "", ""),
    )
    print(line.format("", "phone", "desktop", "TBT ms", "LCP s", "shift", "KB", "load", ""))
    print(line.format("goal", *goals, ""))
    missed = 0
    for page in all_pages():
        with serve_site() as (address, sent):
            phone = run_lighthouse(address + page, chrome, runs)
            desktop = run_lighthouse(address + page, chrome, runs, "--preset=desktop")
            weight = visit(browser, address, page, sent)
        shift = max(phone.shift, desktop.shift)
        met = (
            phone.meets(PHONE_PERFORMANCE)
            and desktop.meets(DESKTOP_PERFORMANCE)
            and shift <= SHIFT
            and weight.first <= weight.goal
        )
        missed += not met
        figures = (
            f"{phone.times['TBT']:.0f}",
            f"{phone.times['LCP'] / 1000:.1f}",
            f"{shift:.3f}",
            f"{weight.first / 1000:.0f}",
            f"{os.getloadavg()[0]:.1f}",
        )
        verdict = "" if met else "NOT MET"
        print(line.format(f"/{page}", str(phone), str(desktop), *figures, verdict), flush=True)
    return missed


def all_pages() -> list[str]:
    """The addresses of every page in both languages."""
    return [
        ("zh/" if language == "zh" else "")
        + ("" if page.name == "index.md" else page.name.removesuffix(".md") + "/")
        for language in LANGUAGES
        for page in list_pages(language)
    ]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as zh/glossary/")
    parser.add_argument("--all", action="store_true", help="every page in both languages")
    runs = f"of Lighthouse, for the medians; {RUNS}, with --all {RUNS_OF_ALL}"
    parser.add_argument("--runs", type=int, help=runs)
    parser.add_argument("--quick", action="store_true", help="without Lighthouse")
    parser.add_argument("--bare", action="store_true", help="also without Material's script")
    options = parser.parse_args()
    options.runs = options.runs or (RUNS_OF_ALL if options.all else RUNS)
    named = [page.strip("/") + "/" if page.strip("/") else "" for page in options.pages]
    options.pages = all_pages() if options.all else named or SAMPLE_PAGES
    return options


def main() -> None:
    options = parse_arguments()
    missing = [page for page in options.pages if not (SITE / page / "index.html").is_file()]
    if missing:
        sys.exit(f"no {SITE / missing[0] / 'index.html'}: build it with scripts/build")
    print(f"{os.cpu_count()} cores; Lighthouse: medians of {options.runs}")
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        chrome = chromium.environment() | {"CHROME_PATH": str(chromium.executable(playwright))}
        if options.all:
            missed, unit = measure_all(browser, chrome, options.runs), "page"
        else:
            table, tests = Table(), browser_tests(options.pages)
            for page in options.pages:
                measure_page(page, browser, chrome, options, tests[page], table)
            missed, unit = table.missed, "goal"
        browser.close()
    print(f"\n{missed or 'No'} {unit}{'s' * (missed != 1)} missed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
