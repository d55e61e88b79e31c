"""Make the card of each page: the preview picture that other sites show beside a link to it."""

import io
import re
import statistics
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
from bookbuild.publish import chromium

CARD_SIZE = (1200, 630)  # the size that social networks recommend
NUM_COLORS = 64  # background, text, accent, and antialiased edges
ASSETS = paths.ROOT / "overrides" / "assets"
CARD_STYLE = """
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
# Reduces the font size until the text fits.
FIT_TEXT_SCRIPT = """() => {
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
    """The content of a card, from the meta elements of its page."""

    language: str
    page: Path
    picture: Path
    book: str
    title: str
    description: str


def site_cards(site: Path) -> Iterator[Card]:
    """A card for each page of a built site."""
    for language in LANGUAGES:
        folder = site / "zh" if language == "zh" else site
        for page in list_pages(language):
            path = folder / page_url(page.name) / "index.html"
            picture = folder / "cards" / page.name.replace(".md", ".png")
            html = path.read_text(encoding="utf-8")
            texts = [
                unescape(re.search(rf'<meta property="og:{name}" content="([^"]*)"', html)[1])  # type: ignore[index]
                for name in ("site_name", "title", "description")
            ]
            yield Card(language, path, picture, *texts)


def card_html(card: Card) -> str:
    """The card as HTML, in the site's colors and fonts."""
    mark = (ASSETS / "mark.svg").read_text(encoding="utf-8")
    header = "" if card.title == card.book else escape(card.book)
    css = (ASSETS / "site.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="{card.language}"><style>{css}{CARD_STYLE}</style>'
        f'<body data-md-color-scheme="default"><main><header>{mark}{header}</header>'
        f"<section><h1>{escape(card.title)}</h1><p>{escape(card.description)}</p></section></main>"
    )


def draw_card(page: Page, card: Card) -> bytes:
    """The card as a PNG with its texts as metadata."""
    page.set_content(card_html(card))
    if not page.evaluate(FIT_TEXT_SCRIPT):
        message = "title and description don't fit on a card; shorten the description"
        raise SourceError(card.page, 1, message)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    metadata = PngInfo()
    metadata.add_itxt("Title", card.title)
    metadata.add_itxt("Description", card.description)
    buffer = io.BytesIO()
    palette = picture.quantize(NUM_COLORS, dither=Image.Dither.NONE)
    palette.save(buffer, "PNG", optimize=True, pnginfo=metadata)
    return buffer.getvalue()


def write_cards(site: Path) -> None:
    """Write the card of each page of a built site."""
    with sync_playwright() as playwright, chromium.launch(playwright) as browser:
        page = browser.new_page(viewport={"width": CARD_SIZE[0], "height": CARD_SIZE[1]})
        sizes = []
        for card in site_cards(site):
            data = draw_card(page, card)
            write_file(card.picture, data)
            sizes.append(len(data))
    print(f"cards: {len(sizes)} pages, {statistics.mean(sizes) / 1e3:.0f} KB each")
