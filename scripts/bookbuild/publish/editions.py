"""Make the PDF and the EPUB of the book in each language from the built site."""

from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from bookbuild.pages.files import write_file
from bookbuild.publish import chromium
from bookbuild.publish.chapters import Book, read_book
from bookbuild.publish.epub import make_epub
from bookbuild.publish.pdf import make_pdf, open_document

FILE_NAME = "transformer-line-by-line"
COVER_SIZE = {"width": 900, "height": 1200}


def cover_picture(page: Page, site: Path, book: Book) -> bytes:
    """The title page of the PDF as a PNG."""
    page.set_viewport_size(COVER_SIZE)
    open_document(page, site, book, "html { font-size: 20px }", page_numbers={}, articles=[])
    return page.screenshot()


def write_edition(site: Path, language: str) -> None:
    """Write the PDF and the EPUB in one language into a built site."""
    folder = site / "zh" if language == "zh" else site
    # without hinting, glyphs need not align to whole pixels, as on paper
    options = ["--font-render-hinting=none"]
    with sync_playwright() as playwright, chromium.launch(playwright, *options) as browser:
        page = browser.new_page()
        page.set_default_timeout(0)  # no timeout: the machine may be busy
        book = read_book(page, site, language)
        pdf = make_pdf(page, site, book)
        epub = make_epub(book, cover_picture(page, site, book))
    for kind, data in (("pdf", pdf), ("epub", epub)):
        path = folder / f"{FILE_NAME}.{kind}"
        write_file(path, data)
        print(path, f"{len(data) / 1e6:.1f} MB")
