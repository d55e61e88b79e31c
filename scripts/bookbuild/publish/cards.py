"""Make the card of each page: the preview picture that other sites show beside a link to it."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page, sync_playwright

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import list_pages, page_url
from bookbuild.pages.templates import read_template, render
from bookbuild.publish import chromium
from bookbuild.publish.chapters import read_metas, site_folder

CARD_SIZE = (1200, 630)  # the size that social networks recommend
NUM_COLORS = 64  # background, text, accent, and antialiased edges
ASSETS = paths.ROOT / "overrides" / "assets"
FIT_TEXT_SCRIPT = read_template("fit_text.js")


class Card(NamedTuple):
    """The content of a card, from the meta elements of its page."""

    language: str
    page: Path
    picture: Path
    book: str
    title: str
    description: str


def site_cards(site: Path, language: str) -> Iterator[Card]:
    """A card for each page of a built site in one language."""
    folder = site_folder(site, language)
    for page in list_pages(language):
        path = folder / page_url(page.name) / "index.html"
        picture = folder / "cards" / page.name.replace(".md", ".png")
        metas = read_metas(path)
        texts = (metas[f"og:{name}"] for name in ("site_name", "title", "description"))
        yield Card(language, path, picture, *texts)


def card_html(card: Card) -> str:
    logo, css = ((ASSETS / name).read_text(encoding="utf-8") for name in ("logo.svg", "site.css"))
    return render("card.html", card.language, card=card, logo=logo, css=css)


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
    palette, file = picture.quantize(NUM_COLORS, dither=Image.Dither.NONE), io.BytesIO()
    palette.save(file, "PNG", optimize=True, pnginfo=metadata)
    return file.getvalue()


def write_cards(site: Path, language: str) -> None:
    """Write the card of each page of a built site in one language."""
    with sync_playwright() as playwright, chromium.launch(playwright) as browser:
        page = browser.new_page(viewport={"width": CARD_SIZE[0], "height": CARD_SIZE[1]})
        for card in site_cards(site, language):
            write_file(card.picture, draw_card(page, card))
