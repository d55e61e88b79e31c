"""What a reader's line carries: the first page, all that it fetches included, and a second one."""

import gzip
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from benchmarks.page import SECOND, WITH_FORMULAS, WITHOUT_FORMULAS
from browser_pages import BASE, open_everything, settle

TEXT = {".html", ".css", ".js", ".json", ".svg", ".xml"}  # what a server compresses


@pytest.fixture(params=[1280])
def width(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def fetched(reader: Page, site: Path) -> dict[str, int]:
    """The files that the reader's browser asks for, and their bytes on the wire."""
    sizes: dict[str, int] = {}

    def note(url: str) -> None:
        path = site / urlsplit(url).path.lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        data = path.read_bytes()
        sizes[path.relative_to(site).as_posix()] = len(
            gzip.compress(data) if path.suffix in TEXT else data
        )

    reader.on(
        "request", lambda request: note(request.url) if request.url.startswith(BASE) else None
    )
    return sizes


def visit(reader: Page, address: str) -> None:
    """Opens a page and all that is folded in it."""
    reader.goto(address)
    open_everything(reader)
    settle(reader)


def output(fetched: dict[str, int]) -> str:
    return "\n".join(f"{size:7d} {name}" for name, size in sorted(fetched.items()))


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("", WITHOUT_FORMULAS),
        ("glossary/", WITHOUT_FORMULAS),
        ("labs/train-a-translator/", WITH_FORMULAS),  # it has a few formulas
        ("positional-encoding/", WITH_FORMULAS),
        ("attention/", WITH_FORMULAS),
    ],
    ids=["home", "glossary", "lab", "positional-encoding", "attention"],
)
def test_a_first_visit_is_light(reader, home, fetched, name, limit):
    visit(reader, home + name)
    assert sum(fetched.values()) <= limit, output(fetched)


@pytest.mark.parametrize(
    "name",
    ["", "positional-encoding/", "attention/"],
    ids=["home", "positional-encoding", "attention"],
)
def test_the_next_page_comes_with_its_html_and_little_else(reader, home, fetched, name):
    visit(reader, home + name)
    before = dict(fetched)
    reader.locator(".md-footer__link--next").click()
    reader.wait_for_url(lambda url: url != home + name)
    open_everything(reader)
    settle(reader)
    added = {name: size for name, size in fetched.items() if name not in before}
    assert any(name.endswith("index.html") for name in added)
    assert sum(added.values()) <= SECOND, output(added)
