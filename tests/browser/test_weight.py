"""The bytes that a first page with all its files transfers, and a second page."""

import gzip
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request

from benchmarks.page import MAX_BYTES_WITH_FORMULAS, MAX_BYTES_WITHOUT_FORMULAS, MAX_NEXT_PAGE_BYTES
from bookbuild.pages.paths import LANGUAGES
from browser_pages import expand_page, wait_until_idle

# Of files that a server compresses.
COMPRESSED_SUFFIXES = {".html", ".css", ".js", ".json", ".svg", ".xml"}

MAX_DEBUGGER_SCRIPT_BYTES = 25_000
pytestmark = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def fetched_bytes(checked_page: Page, site: Path) -> dict[str, int]:
    """The files that the reader's browser asks for, and their bytes on the wire."""
    sizes: dict[str, int] = {}

    def record_size(request: Request) -> None:
        path = site / urlsplit(request.url).path.lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        data = path.read_bytes()
        sizes[path.relative_to(site).as_posix()] = len(
            gzip.compress(data) if path.suffix in COMPRESSED_SUFFIXES else data
        )

    checked_page.on("request", record_size)
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_debugger_is_as_large_as_its_button_says(checked_page, home_url, fetched_bytes):
    visit_page(checked_page, f"{home_url}step-through/")
    before = sum(fetched_bytes.values())
    assert before <= MAX_BYTES_WITHOUT_FORMULAS, size_report(fetched_bytes)
    start = checked_page.locator(".debugger__start button")
    label = start.inner_text()
    start.click()
    checked_page.locator(".debugger__tensors figure").first.wait_for()
    added = sum(fetched_bytes.values()) - before
    assert f"{added / 1e6:.1f} MB" in label, size_report(fetched_bytes)
    scripts = [size for name, size in fetched_bytes.items() if "assets/widgets/" in name]
    assert sum(scripts) <= MAX_DEBUGGER_SCRIPT_BYTES, size_report(fetched_bytes)


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
