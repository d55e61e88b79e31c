"""The bytes that a first page with all its files transfers, and a second page."""

import gzip
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from benchmarks.page import MAX_BYTES_WITH_FORMULAS, MAX_BYTES_WITHOUT_FORMULAS, MAX_NEXT_PAGE_BYTES
from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE_URL, expand_page, wait_until_idle

# Of files that a server compresses.
COMPRESSED_SUFFIXES = {".html", ".css", ".js", ".json", ".svg", ".xml"}
MAX_DEBUGGER_HTML_BYTES, MAX_DEBUGGER_SCRIPT_BYTES = 60_000, 25_000  # of the page Step through


@pytest.fixture(params=[1280])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def fetched_bytes(checked_page: Page, site: Path) -> dict[str, int]:
    """The files that the reader's browser asks for, and their bytes on the wire."""
    sizes: dict[str, int] = {}

    def record_size(url: str) -> None:
        path = site / urlsplit(url).path.lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        data = path.read_bytes()
        sizes[path.relative_to(site).as_posix()] = len(
            gzip.compress(data) if path.suffix in COMPRESSED_SUFFIXES else data
        )

    checked_page.on(
        "request",
        lambda request: record_size(request.url) if request.url.startswith(BASE_URL) else None,
    )
    return sizes


def visit_page(checked_page: Page, address: str) -> None:
    """Open a page and its folded blocks."""
    checked_page.goto(address)
    expand_page(checked_page)
    wait_until_idle(checked_page)


def size_report(fetched_bytes: dict[str, int]) -> str:
    return "\n".join(f"{size:7d} {name}" for name, size in sorted(fetched_bytes.items()))


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("", MAX_BYTES_WITHOUT_FORMULAS),
        ("glossary/", MAX_BYTES_WITHOUT_FORMULAS),
        ("labs/train-a-translator/", MAX_BYTES_WITH_FORMULAS),  # it has a few formulas
        ("attention/", MAX_BYTES_WITH_FORMULAS),
    ],
    ids=["home", "glossary", "lab", "attention"],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_first_visit_stays_below_its_limit(checked_page, home_url, fetched_bytes, name, limit):
    visit_page(checked_page, home_url + name)
    assert sum(fetched_bytes.values()) <= limit, size_report(fetched_bytes)
    assert not [name for name in fetched_bytes if Path(name).stem in ("step-through", "debugger")]


@pytest.mark.parametrize("folder", ["", "zh/"], ids=["en", "zh"])
def test_the_debugger_is_small(checked_page, fetched_bytes, folder):
    visit_page(checked_page, f"{BASE_URL}{folder}step-through/")
    before = sum(fetched_bytes.values())
    assert before <= MAX_BYTES_WITHOUT_FORMULAS, size_report(fetched_bytes)
    start = checked_page.locator(".debugger__start button")
    label = start.inner_text()
    start.click()
    checked_page.locator(".debugger__tensors figure").first.wait_for()
    added = sum(fetched_bytes.values()) - before
    assert f"{added / 1e6:.1f} MB" in label, size_report(fetched_bytes)
    scripts = {
        name: size
        for name, size in fetched_bytes.items()
        if name.startswith(f"{folder}assets/widgets/") or name.endswith("downloads/translator.js")
    }
    names = ["common", "debugger", "step-through", "translator"]
    assert sorted(Path(name).stem for name in scripts) == names
    assert sum(scripts.values()) <= MAX_DEBUGGER_SCRIPT_BYTES, size_report(scripts)
    assert fetched_bytes[f"{folder}step-through/index.html"] <= MAX_DEBUGGER_HTML_BYTES


@pytest.mark.parametrize("name", ["", "positional-encoding/"], ids=["home", "chapter"])
def test_the_next_page_fetches_its_html_and_little_else(
    checked_page, home_url, fetched_bytes, name
):
    visit_page(checked_page, home_url + name)
    before = dict(fetched_bytes)
    checked_page.locator(".md-footer__link--next").click()
    checked_page.wait_for_url(lambda url: url != home_url + name)
    expand_page(checked_page)
    wait_until_idle(checked_page)
    added = {name: size for name, size in fetched_bytes.items() if name not in before}
    assert any(name.endswith("index.html") for name in added)
    assert sum(added.values()) <= MAX_NEXT_PAGE_BYTES, size_report(added)
