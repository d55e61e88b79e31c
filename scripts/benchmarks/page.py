"""How fast, light and sound the pages are: Lighthouse, axe, html-validate, vnu, bytes.

usage: scripts/bench page [--runs 5] [--quick] [--bare] [PAGE ...]

Serves the built site as GitHub Pages does and looks at four pages in both languages, or at those
named (zh/glossary/). Fails if a goal is missed. Lighthouse's figures are medians and depend on
what else the machine does, so its load stands beside them. --quick leaves Lighthouse out; --bare
adds the phone's figures of the same page without Material's script, which is what is left to gain.
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

from bookbuild.publish import chromium

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
NODE = str(ROOT / ".venv/bin/node")
PAGES = [
    language + page
    for page in ("", "positional-encoding/", "labs/attention-by-hand/", "glossary/")
    for language in ("", "zh/")
]
CATEGORIES = "performance", "accessibility", "best-practices", "seo"
PHONE_PERFORMANCE = 95
SHIFT = 0.01
WITH_FORMULAS, WITHOUT_FORMULAS, SECOND = 260_000, 120_000, 60_000  # bytes
COMPRESSED = "text/", "application/javascript", "application/json", "application/xml", "image/svg"
STATUS_LINES = 100  # bytes of an answer's first line, with Server, Date and the empty line
THEME_SCRIPT = re.compile(rb"<script[^>]*/bundle\.[^>]*></script>")


class Pages(http.server.SimpleHTTPRequestHandler):
    """The site as GitHub Pages serves it; notes the bytes of each answer, headers included."""

    protocol_version = "HTTP/1.1"
    bare = False  # without Material's script

    def __init__(self, *args, sent: list[tuple[str, int]], **options):
        self.sent = sent
        super().__init__(*args, **options)

    def log_message(self, format: str, *args) -> None:
        pass

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        found = path.is_file()
        kind = self.guess_type(str(path if found else "404.html"))
        body = (path if found else SITE / "404.html").read_bytes()
        if self.bare:
            body = THEME_SCRIPT.sub(b"", body)
        headers = {"Content-Type": kind, "Cache-Control": "max-age=600"}
        if kind.startswith(COMPRESSED):
            body = gzip.compress(body, 6, mtime=0)
            headers |= {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Encoding": "gzip",
                "Vary": "Accept-Encoding",
            }
        headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        status = 200 if found else 404
        if self.headers["If-None-Match"] == headers["ETag"]:
            status, body = 304, b""
        headers["Content-Length"] = str(len(body))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(ConnectionError):  # the browser has been closed
            self.wfile.write(body)
        lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
        self.sent.append((self.path, STATUS_LINES + len("".join(lines)) + len(body)))


@contextmanager
def serving(site: Path = SITE, bare: bool = False) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The site's address, and a list that grows by the path and bytes of each answer."""
    sent: list[tuple[str, int]] = []
    kind = type("Bare", (Pages,), {"bare": True}) if bare else Pages
    handler = functools.partial(kind, directory=str(site), sent=sent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()


class Visit(NamedTuple):
    """What a first visit and then a click to the next page transfer."""

    first: int
    fonts: int  # of the first
    second: int
    elsewhere: list[str]  # addresses asked for at other origins

    @property
    def goal(self) -> int:
        return WITH_FORMULAS if self.fonts else WITHOUT_FORMULAS


def visit(browser: Browser, address: str, page: str, sent: list[tuple[str, int]]) -> Visit:
    """A reader with an empty cache comes to the page, and goes on to the next one."""
    context = browser.new_context(viewport={"width": 412, "height": 823})
    tab = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    sent.clear()
    tab.goto(address + page, wait_until="networkidle")
    first, fonts = sum(n for _, n in sent), sum(n for path, n in sent if "/fonts/" in path)
    sent.clear()
    tab.locator(".md-footer__link--next").click()
    tab.wait_for_url(lambda url: url != address + page)
    tab.wait_for_load_state("networkidle")
    second = sum(n for _, n in sent)
    context.close()
    ours = (address, "data:", "blob:")
    return Visit(first, fonts, second, [url for url in asked if not url.startswith(ours)])


class Lighthouse(NamedTuple):
    """Medians of Lighthouse's scores, 0 to 100, and of what the first is made of."""

    scores: list[float]
    times: dict[str, float]  # milliseconds
    shift: float


TIMES = {
    "FCP": "first-contentful-paint",
    "LCP": "largest-contentful-paint",
    "TBT": "total-blocking-time",
    "SI": "speed-index",
}


def lighthouse(address: str, chrome: dict[str, str], runs: int, *options: str) -> Lighthouse:
    """On a phone, as Lighthouse has it: CPU slowed four times, slow 4G, both simulated."""
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
    times = {short: median(audit) for short, audit in TIMES.items()}
    return Lighthouse(scores, times, median("cumulative-layout-shift"))


def told(found: Lighthouse) -> str:
    return " / ".join(f"{score:.0f}" for score in found.scores)


def browser_tests(pages: list[str]) -> dict[str, dict[str, bool]]:
    """For each page, whether the test of all pages passes."""
    tests = {
        "axe, light and dark; without JavaScript": (
            "tests/browser/test_all_pages.py::test_page_is_complete_and_has_no_errors"
        ),
    }
    names = {page: f"[chromium-{page.removesuffix('/') or 'home'}]" for page in pages}
    names |= {"zh/": "[chromium-zh/]"} if "zh/" in pages else {}
    wanted = [test + name for name in names.values() for test in tests.values()]
    command = [sys.executable, "-m", "pytest", "--all", "-q", "-rA", "--tb=short", *wanted]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    passed = set(re.findall(r"^PASSED (\S+)", done.stdout, re.M))
    if len(passed) < len(wanted):
        print(done.stdout[-4000:])
    return {
        page: {what: test + name in passed for what, test in tests.items()}
        for page, name in names.items()
    }


def html_faults(path: Path) -> list[str]:
    """What html-validate says; tests/validate.mjs has the rules."""
    command = [NODE, str(ROOT / "tests/validate.mjs"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


# Material keeps Firefox from opening its menu again by an attribute that HTML doesn't have there.
VNU_LEFT_OUT = ".*autocomplete.*is only allowed when the input type is.*"


def vnu_faults(path: Path) -> list[str] | None:
    """What the W3C's checker says, or None without Java."""
    java, jar = shutil.which("java"), ROOT / "node_modules/vnu-jar/build/dist/vnu.jar"
    if not java or not jar.exists():
        return None
    command = [java, "-jar", str(jar), "--errors-only", "--filterpattern", VNU_LEFT_OUT, str(path)]
    return subprocess.run(command, capture_output=True, text=True).stderr.splitlines()


class Table:
    """A page's figures, each with its goal."""

    def __init__(self) -> None:
        self.missed = 0

    def row(self, what: str, figure: str, goal: str = "", met: bool | None = None) -> None:
        verdict = "" if met is None else "met" if met else "NOT MET"
        self.missed += met is False
        print(f"  {what:<24}{figure:<38}{goal:<26}{verdict}".rstrip(), flush=True)

    def count(self, what: str, faults: list[str]) -> None:
        self.row(what, str(len(faults)), "0", not faults)
        for fault in faults[:5]:
            print(f"      {fault}")


def times(found: Lighthouse) -> str:
    return ", ".join(
        f"{name} {value:.0f} ms" if name == "TBT" else f"{name} {value / 1000:.1f} s"
        for name, value in found.times.items()
    )


def look(
    page: str, browser: Browser, chrome: dict[str, str], options, tested, table: Table
) -> None:
    with serving() as (address, sent):
        load = " ".join(f"{each:.1f}" for each in os.getloadavg())
        print(f"\n/{page}   (load of the machine: {load})")
        if not options.quick:
            desktop = lighthouse(address + page, chrome, options.runs, "--preset=desktop")
            goal = "100 / 100 / 100 / 100"
            table.row("Lighthouse, desktop", told(desktop), goal, min(desktop.scores) == 100)
            phone = lighthouse(address + page, chrome, options.runs)
            met = phone.scores[0] >= PHONE_PERFORMANCE and min(phone.scores[1:]) == 100
            goal = f"{PHONE_PERFORMANCE} / 100 / 100 / 100"
            table.row("Lighthouse, phone", told(phone), goal, met)
            table.row("", times(phone))
            shift = max(desktop.shift, phone.shift)
            table.row("layout shift", f"{shift:.3f}", f"at most {SHIFT}", shift <= SHIFT)
        found = visit(browser, address, page, sent)
    if options.bare and not options.quick:
        with serving(bare=True) as (address, _):
            bare = lighthouse(address + page, chrome, options.runs)
            table.row("  without theme's script", f"{told(bare)}   ({times(bare)})")
    for what, passed in tested.items():
        table.row(what, "nothing found" if passed else "faults, above", "nothing", passed)
    path = SITE / page / "index.html"
    table.count("html-validate", html_faults(path))
    faults = vnu_faults(path)
    if faults is None:
        table.row("vnu", "left out: there is no Java on this machine")
    else:
        table.count("vnu", faults)
    size = f"{found.first / 1000:.0f} KB ({found.fonts / 1000:.0f} KB of fonts)"
    table.row("first visit", size, f"at most {found.goal // 1000} KB", found.first <= found.goal)
    size = f"{found.second / 1000:.0f} KB"
    table.row("second page", size, f"at most {SECOND // 1000} KB", found.second <= SECOND)
    table.count("asked of other origins", found.elsewhere)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="zh/glossary/; the eight if none")
    parser.add_argument("--runs", type=int, default=5, help="of Lighthouse, for the medians")
    parser.add_argument("--quick", action="store_true", help="without Lighthouse")
    parser.add_argument("--bare", action="store_true", help="also without Material's script")
    options = parser.parse_args()
    pages = [page.strip("/") + "/" if page.strip("/") else "" for page in options.pages] or PAGES
    missing = [page for page in pages if not (SITE / page / "index.html").is_file()]
    if missing:
        sys.exit(f"there is no {SITE}/{missing[0]}index.html: build it with scripts/build")
    print(f"{os.cpu_count()} cores; Lighthouse: medians of {options.runs}")
    tested = browser_tests(pages)
    table = Table()
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        chrome = chromium.environment() | {"CHROME_PATH": str(chromium.executable(playwright))}
        for page in pages:
            look(page, browser, chrome, options, tested[page], table)
        browser.close()
    print(f"\n{table.missed or 'No'} goal{'s' * (table.missed != 1)} missed")
    sys.exit(table.missed > 0)


if __name__ == "__main__":
    main()
