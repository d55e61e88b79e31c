"""The book as a PDF, printed by Chromium."""

import copy
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pikepdf
from lxml import etree
from lxml.builder import E
from playwright.sync_api import Page, Route

from bookbuild.publish.chapters import (
    Book,
    Chapter,
    authors,
    has_class,
    remove_elements,
    rename_ids,
    rewrite_links,
)

BASE = "http://book.localhost"  # requests are answered from the folder of the site
STYLE = Path(__file__).with_name("styles") / "pdf.css"
BODY = {"data-md-color-scheme": "default", "class": "md-typeset", "dir": "ltr"}
HEADER_ID = re.compile(rb"\(node\d{8}\)")
ONLY_PAGE_NUMBERS = """
body * { visibility: hidden }
.number { visibility: visible !important }
@page {
  @top-left { content: none !important }
  @bottom-center { content: none !important }
}
"""


def global_anchor(name: str, fragment: str) -> str:
    """The anchor, in the whole book, of a chapter or of an element in it."""
    return f"{name}--{fragment}" if fragment and fragment != name else name


def printable_chapter(book: Book, chapter: Chapter) -> etree._Element:
    """A copy of a chapter with unique anchors and open blocks."""
    article = copy.deepcopy(chapter.article)
    rewrite_links(book, chapter, article, lambda name, anchor: "#" + global_anchor(name, anchor))
    for element in article.iter(etree.Element):
        rename_ids(element, lambda id: global_anchor(chapter.name, id))
        if element.tag == "details":
            element.set("open", "")
    remove_elements(article, f".//*[{has_class('katex-mathml')}]")
    for formula in article.xpath(f".//*[{has_class('katex-html')}]"):
        del formula.attrib["aria-hidden"]
    article.set("style", f"page: {chapter.name}")  # its header has the chapter's title
    return article


def table_of_contents(book: Book, page_numbers: dict[str, int]) -> etree._Element:
    """The table of contents, with the page numbers known so far."""

    def entry(target: str, title: str, *children: etree._Element) -> etree._Element:
        number = E.span(str(page_numbers.get(target, "")), {"class": "number"})
        return E.li(E.a(E.span(title, {"class": "name"}), number, href=f"#{target}"), *children)

    def sections(chapter: Chapter) -> Iterator[etree._Element]:
        entries = [
            entry(global_anchor(chapter.name, anchor), title)
            for anchor, title in chapter.sections()
        ]
        if entries:
            yield E.ol(*entries)

    entries = [entry(each.name, each.title, *sections(each)) for each in book.chapters]
    heading = E.h1(book.words("contents"), id="contents")
    return E.nav(heading, E.ol(*entries), {"class": "contents"})


def css_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_document(book: Book, parts: Iterable[etree._Element], extra_style: str = "") -> bytes:
    """The XHTML document that Chromium prints."""
    headers = f"@page {{ @top-left {{ content: {css_string(book.title)} }} }}\n" + "".join(
        f"@page {each.name} {{ @top-right {{ content: {css_string(each.title)} }} }}\n"
        for each in book.chapters
    )
    head = E.head(E.meta(charset="utf-8"), E.title(book.title))
    head.extend(E.link(rel="stylesheet", href=sheet) for sheet in book.style_sheets)
    head.append(E.style(STYLE.read_text(encoding="utf-8") + headers + extra_style))
    attributes = {"xmlns": "http://www.w3.org/1999/xhtml", "lang": book.language, "class": "js"}
    document = E.html(attributes, head, E.body(BODY, *parts))
    return etree.tostring(document, encoding="utf-8", doctype="<!DOCTYPE html>")


def open_document(page: Page, site: Path, document: bytes) -> None:
    """Open a document at the root of the site."""

    def respond(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/book.xhtml":
            route.fulfill(body=document, content_type="application/xhtml+xml")
        else:
            route.fulfill(path=site / path[1:])

    page.unroute(f"{BASE}/**")
    page.route(f"{BASE}/**", respond)
    page.goto(f"{BASE}/book.xhtml")
    page.evaluate("document.fonts.ready")


def print_pdf(page: Page, site: Path, document: bytes) -> pikepdf.Pdf:
    open_document(page, site, document)
    data = page.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
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
    chapters = [printable_chapter(book, chapter) for chapter in book.chapters]
    front = [book.title_page(), table_of_contents(book, {})]
    pdf = print_pdf(page, site, print_document(book, front + chapters))
    front = [book.title_page(), table_of_contents(book, destination_pages(pdf))]
    numbers = print_pdf(page, site, print_document(book, front, ONLY_PAGE_NUMBERS))
    for below, above in zip(pdf.pages, numbers.pages, strict=False):
        overlay(pdf, below, above)
    date = book.date.strftime("D:%Y%m%d%H%M%SZ")
    info = {
        "/Title": book.title,
        "/Author": authors(),
        "/Subject": book.description,
        "/CreationDate": date,
        "/ModDate": date,
        "/Creator": book.address,
        "/Producer": str(pdf.docinfo["/Producer"]),
    }
    del pdf.docinfo
    for key, value in info.items():
        pdf.docinfo[key] = value
    pdf.Root.PageMode = pikepdf.Name.UseOutlines
    pdf.Root.Lang = pikepdf.String(book.language_code)
    file = io.BytesIO()
    streams = pikepdf.ObjectStreamMode.generate
    pdf.save(file, object_stream_mode=streams, deterministic_id=True)
    return file.getvalue()


def overlay(pdf: pikepdf.Pdf, below: pikepdf.Page, above: pikepdf.Page) -> None:
    """Like pikepdf's add_overlay, but with a fixed name, for reproducible bytes."""
    form = pdf.copy_foreign(above.as_form_xobject())
    name = below.add_resource(form, pikepdf.Name.XObject, pikepdf.Name("/Numbers"))
    below.contents_add(b"q", prepend=True)
    below.contents_add(f"Q q {name} Do Q".encode())
