"""Make the PDF and the EPUB of the book in each language from the built site."""

from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from bookbuild.pages.files import write_file
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import built_site, chromium
from bookbuild.publish.chapters import Book, read_book
from bookbuild.publish.epub import make_epub
from bookbuild.publish.pdf import make_pdf, open_document

NAME = "transformer-line-by-line"
COVER_SIZE = {"width": 900, "height": 1200}


def cover_picture(page: Page, site: Path, book: Book) -> bytes:
    """The title page of the PDF as a PNG."""
    page.set_viewport_size(COVER_SIZE)
    open_document(page, site, book, "html { font-size: 20px }", page_numbers=None, articles=[])
    return page.screenshot()


def make_editions(
    site: Path, language: str, kinds: Iterable[str] = ("pdf", "epub")
) -> dict[str, bytes]:
    """The PDF and the EPUB in one language, by kind."""
    with sync_playwright() as playwright:
        # without hinting, glyphs need not align to whole pixels, as on paper
        browser = chromium.launch(playwright, "--font-render-hinting=none")
        page = browser.new_page()
        page.set_default_timeout(0)  # no timeout: the machine may be busy
        book = read_book(page, site, language)
        files = {}
        if "pdf" in kinds:
            files["pdf"] = make_pdf(page, site, book)
        if "epub" in kinds:
            files["epub"] = make_epub(book, cover_picture(page, site, book))
        browser.close()
    return files


def main() -> None:
    site = built_site.site_argument(__doc__)
    for language in LANGUAGES:
        folder = site / "zh" if language == "zh" else site
        for kind, data in make_editions(site, language).items():
            path = folder / f"{NAME}.{kind}"
            write_file(path, data)
            print(path, f"{len(data) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
