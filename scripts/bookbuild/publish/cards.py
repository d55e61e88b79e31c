"""The card of each page: a picture with its title, which is shown where somebody links to it.

usage: python -m bookbuild.publish.cards [SITE]   (default: site)
"""

import io
import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page, sync_playwright

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import list_pages, page_url
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import built_site, chromium

SIZE = (1200, 630)  # what those who show cards ask for
COLOURS = 64  # paper, ink, vermilion, and the edges of letters
ASSETS = paths.ROOT / "overrides" / "assets"
STYLE = """
body { margin: 0; width: 1200px; height: 630px; background: var(--paper); color: var(--ink); }
main {
  box-sizing: border-box; height: 100%; padding: 64px 80px 72px; overflow: hidden;
  border-bottom: 14px solid var(--note); display: flex; flex-direction: column;
}
header { display: flex; align-items: center; gap: 24px; font: 36px var(--heading-font); }
svg { width: 80px; height: 80px; }
section { margin: auto 0; padding-top: 28px; }
h1 { margin: 0 0 0.35em; font: 700 calc(92px * var(--scale)) / 1.15 var(--heading-font); }
p {
  margin: 0; color: var(--quiet); font: calc(38px * var(--scale)) / 1.45 var(--md-text-font);
  text-wrap: pretty;
}
"""
# What is too long for the card is written smaller, until it fits.
FIT = """() => {
  const [main, section] = document.querySelectorAll("main, section");
  const root = document.documentElement.style;
  for (let scale = 1; scale >= 0.4; scale -= 0.02) {
    root.setProperty("--scale", scale);
    if (main.scrollHeight <= main.clientHeight && section.scrollWidth <= section.clientWidth) {
      return scale;
    }
  }
  return 0;
}"""


class Card(NamedTuple):
    """What stands on a card, as its page tells it to whoever links there."""

    language: str
    file: Path  # of the page
    picture: Path
    book: str
    title: str
    about: str


def cards(site: Path) -> Iterator[Card]:
    """One for each page of a built site."""
    for language in LANGUAGES:
        folder = site / "zh" if language == "zh" else site
        for page in list_pages(language):
            file = folder / page_url(page.name) / "index.html"
            picture = folder / "cards" / page.name.replace(".md", ".png")
            html = file.read_text(encoding="utf-8")
            told = [
                unescape(re.search(rf'<meta property="og:{name}" content="([^"]*)"', html)[1])  # type: ignore[index]
                for name in ("site_name", "title", "description")
            ]
            yield Card(language, file, picture, *told)


def html(card: Card) -> str:
    """The card as a page, in the site's own colours and fonts."""
    mark = (ASSETS / "mark.svg").read_text(encoding="utf-8")
    above = "" if card.title == card.book else escape(card.book)
    css = (ASSETS / "site.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="{card.language}"><style>{css}{STYLE}</style>'
        f'<body data-md-color-scheme="default"><main><header>{mark}{above}</header>'
        f"<section><h1>{escape(card.title)}</h1><p>{escape(card.about)}</p></section></main>"
    )


def draw(page: Page, card: Card) -> bytes:
    """The card as PNG, which says in itself whose it is."""
    page.set_content(html(card))
    if not page.evaluate(FIT):
        raise SourceError(card.file, 1, "its title and description don't fit on a card")
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    told = PngInfo()
    told.add_itxt("Title", card.title)
    told.add_itxt("Description", card.about)
    flat = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    made = io.BytesIO()
    flat.save(made, "PNG", optimize=True, pnginfo=told)
    return made.getvalue()


def make(site: Path) -> None:
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        count = total = 0
        for card in cards(site):
            made = draw(page, card)
            write_file(card.picture, made)
            count, total = count + 1, total + len(made)
        browser.close()
    print(f"cards: {count} pages, {total / 1e3 / max(count, 1):.0f} KB each")


if __name__ == "__main__":
    make(built_site.site_argument(__doc__))
