"""The pages of the site as a browser asks for them."""

import pytest
from playwright.sync_api import Page

from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from conftest import BASE

PAGES = [
    ("zh/" if page.language == "zh" else "") + page.name.removesuffix(".md").removesuffix("index")
    for language in LANGUAGES
    for page in list_pages(language)
]
# For what may differ by the language or by the width, but not by both together.
LANGUAGE_AT = {1280: "en", 390: "zh"}
every_page = pytest.mark.parametrize("url", PAGES, ids=lambda url: url or "home")


def address(url: str) -> str:
    return BASE + (url if url.endswith("/") or not url else f"{url}/")


# What is far from the window is drawn, code gets its buttons and notes, and what is to be touched
# comes alive, on coming near.
DRAW = """async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of document.querySelectorAll("pre > code[style], .katex-mathml")) {
    each.style.contentVisibility = "visible";
  }
  for (const each of document.querySelectorAll("pre > code, [data-widget]")) {
    each.scrollIntoView({ block: "center", behavior: "instant" });
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  }
  scrollTo({ top: 0, behavior: "instant" });
  await document.fonts.ready;
}"""


def open_everything(page: Page) -> None:
    """Unfolds what is folded, and lets everything be drawn."""
    page.wait_for_load_state()
    page.evaluate(DRAW)
