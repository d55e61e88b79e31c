"""The book as a PDF, printed by Chromium."""

import datetime
import io
import re
from pathlib import Path

import pikepdf
from lxml import etree
from playwright.sync_api import Page, sync_playwright

from bookbuild.pages.files import write_file
from bookbuild.pages.templates import read_template
from bookbuild.publish import chromium
from bookbuild.publish.chapters import Book, Chapter, authors, read_book, site_folder
from bookbuild.publish.chromium import ORIGIN, serve_from_folder

FILE_NAME = "transformer-line-by-line.pdf"
UNHINTED = "--font-render-hinting=none"  # as on paper, glyphs need not align to whole pixels
HEADER_ID = re.compile(rb"\(node\d{8}\)")


def printable_article(chapter: Chapter) -> str:
    """The article of a chapter with open blocks."""
    article = chapter.parse()
    for details in article.iter("{*}details"):
        details.set("open", "")
    for hidden in article.find_class("katex-mathml"):
        hidden.drop_tree()
    for formula in article.find_class("katex-html"):
        del formula.attrib["aria-hidden"]
    article.set("style", f"page: {chapter.name}")  # its header has the chapter's title
    return etree.tostring(article, encoding="unicode")


def print_pdf(page: Page, site: Path, book: Book, extra_css: str = "", **content) -> pikepdf.Pdf:
    """Print the document of a book, or of a part of it, at the root of the site."""
    css = read_template("pdf.css")
    document = book.render("print.xhtml", css=css, extra_css=extra_css, **content)
    serve_from_folder(site, page)
    address = f"{ORIGIN}/book.xhtml"
    page.route(
        address, lambda route: route.fulfill(body=document, content_type="application/xhtml+xml")
    )
    page.goto(address)
    page.evaluate("document.fonts.ready")
    return print_page(page, outline=True)


def print_page(page: Page, **options) -> pikepdf.Pdf:
    """The document that is open in the browser."""
    data = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, **options)
    return pikepdf.open(io.BytesIO(renumber_header_ids(data)))


def renumber_header_ids(pdf: bytes) -> bytes:
    """Number the table headers from 0; Chromium counts on from document to document."""
    ids = sorted(set(HEADER_ID.findall(pdf)))
    names = {name: b"(node%08d)" % number for number, name in enumerate(ids)}
    return HEADER_ID.sub(lambda match: names[match[0]], pdf)


def destination_pages(pdf: pikepdf.Pdf) -> dict[str, int]:
    """The page number of each anchor."""
    numbers: dict = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
    destinations = {}
    for name, target in pdf.Root.Dests.items():
        page = target[0]
        assert isinstance(page, pikepdf.Object)
        destinations[name.lstrip("/")] = numbers[page.objgen]
    return destinations


def make_pdf(page: Page, site: Path, book: Book) -> bytes:
    """The PDF in one language.

    Chromium can't print the page number of a link's target. So the book is printed, then the
    page numbers alone are printed and overlaid on its table of contents.
    """
    articles = [printable_article(chapter) for chapter in book.chapters]
    pdf = print_pdf(page, site, book, page_numbers={}, articles=articles)
    page_numbers = destination_pages(pdf)
    css = read_template("page_numbers.css")
    numbers = print_pdf(page, site, book, css, page_numbers=page_numbers, articles=[])
    for below, above in zip(pdf.pages, numbers.pages, strict=False):
        overlay_page(pdf, below, above)
    pdf.Root.PageMode = pikepdf.Name.UseOutlines
    return save_pdf(pdf, book.language_code, book.date, book.title, book.description, book.address)


def save_pdf(
    pdf: pikepdf.Pdf,
    language_code: str,
    date: datetime.datetime,
    title: str,
    description: str,
    address: str,
) -> bytes:
    """The bytes of a PDF with its metadata; the same each time."""
    info = {"/Title": title, "/Author": authors(), "/Subject": description}
    info |= dict.fromkeys(("/CreationDate", "/ModDate"), date.strftime("D:%Y%m%d%H%M%SZ"))
    for key, value in (info | {"/Creator": address}).items():
        pdf.docinfo[key] = value
    pdf.Root.Lang = pikepdf.String(language_code)
    file = io.BytesIO()
    streams = pikepdf.ObjectStreamMode.generate
    pdf.save(file, object_stream_mode=streams, deterministic_id=True)
    return file.getvalue()


def overlay_page(pdf: pikepdf.Pdf, page: pikepdf.Page, overlaid_page: pikepdf.Page) -> None:
    """Like pikepdf's add_overlay, but with a fixed name, for reproducible bytes."""
    form = pdf.copy_foreign(overlaid_page.as_form_xobject())
    name = page.add_resource(form, pikepdf.Name.XObject, pikepdf.Name("/Numbers"))
    page.contents_add(b"q", prepend=True)
    page.contents_add(f"Q q {name} Do Q".encode())


def write_pdf(site: Path, language: str) -> None:
    """Write the PDF in one language into a built site."""
    with sync_playwright() as playwright, chromium.launch(playwright, UNHINTED) as browser:
        page = browser.new_page()
        page.set_default_timeout(0)  # no timeout: the machine may be busy
        data = make_pdf(page, site, read_book(page, site, language))
    path = site_folder(site, language) / FILE_NAME
    write_file(path, data)
    print(path, f"{len(data) / 1e6:.1f} MB")
