"""The book as an EPUB 3: a file for each chapter, formulas as MathML, figures as images."""

import copy
import io
import re
import uuid
import zipfile
from pathlib import Path
from typing import NamedTuple

from lxml import etree
from lxml.builder import E

from bookbuild.pages import paths
from bookbuild.publish.chapters import Book, Chapter, authors, has_class, rename_ids, rewrite_links

XHTML = "http://www.w3.org/1999/xhtml"
OPS = "http://www.idpf.org/2007/ops"
OPF = "http://www.idpf.org/2007/opf"
DC = "http://purl.org/dc/elements/1.1/"
MATHML = "http://www.w3.org/1998/Math/MathML"
XLINK = "http://www.w3.org/1999/xlink"
EPUB_TYPE = f"{{{OPS}}}type"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
STYLE = Path(__file__).with_name("styles") / "epub.css"
COLOR = re.compile(r"(--[\w-]+): (#[0-9a-f]{6});")
VARIABLE = re.compile(r"var\((--[\w-]+)\)")
ACCESSIBILITY = {
    "accessMode": ("textual", "visual"),
    "accessModeSufficient": ("textual",),
    "accessibilityFeature": (
        "alternativeText",
        "MathML",
        "readingOrder",
        "structuralNavigation",
        "tableOfContents",
    ),
    "accessibilityHazard": ("none",),
}
ACCESSIBILITY_SUMMARY = {
    "en": "Every figure has a text that says what it shows; every formula is MathML.",
    "zh": "每幅图都有说明其内容的文字；每个公式都是 MathML。",
}
CONTAINER = b"""<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""


class Part(NamedTuple):
    """A file of the EPUB."""

    name: str
    content: bytes
    media_type: str
    properties: str = ""
    in_spine: bool = False


def serialize(root: etree._Element, doctype: str | None = None) -> bytes:
    return etree.tostring(root, encoding="utf-8", xml_declaration=True, doctype=doctype)


def page_part(
    book: Book, name: str, title: str, body: etree._Element, properties: str = ""
) -> Part:
    """A page of the EPUB as XHTML."""
    html = etree.Element("html", nsmap={"epub": OPS})
    html.set("xmlns", XHTML)
    html.set("lang", book.language_code)
    html.set(XML_LANG, book.language_code)
    html.append(E.head(E.title(title), E.link(rel="stylesheet", href="style.css")))
    html.append(body)
    content = serialize(html, "<!DOCTYPE html>")
    return Part(f"{name}.xhtml", content, "application/xhtml+xml", properties, True)


def xml_id(name: str) -> str:
    """An id that is valid in XML."""
    name = name.replace(":", "-")
    return name if name[:1].isalpha() else f"id-{name}"


def chapter_parts(book: Book, chapter: Chapter) -> list[Part]:
    """The chapter's page and its figures."""
    article = copy.deepcopy(chapter.article)

    def address(name: str, anchor: str) -> str:
        page = "" if name == chapter.name and anchor else f"{name}.xhtml"
        return f"{page}#{xml_id(anchor)}" if anchor else page

    rewrite_links(book, chapter, article, address)
    figures = [
        extract_figure(f"{chapter.name}-{number}", svg)
        for number, svg in enumerate(article.xpath(f".//*[{has_class('figure')}]/svg"), 1)
    ]
    replace_formulas(article)
    unfold_details(article)
    mark_footnotes(article)
    for element in article.iter(etree.Element):
        rename_ids(element, xml_id)
        for key in [key for key in element.attrib if key.startswith("data-")]:
            del element.attrib[key]
        if element.tag in ("td", "th") and element.get("align"):
            element.set("style", f"text-align: {element.attrib.pop('align')}")
    article.tag = "section"
    article.attrib.clear()
    article.set(EPUB_TYPE, "chapter")
    properties = "mathml" if article.find(".//math") is not None else ""
    page = page_part(book, chapter.name, chapter.title, E.body(article), properties)
    return [page, *figures]


def light_colors() -> dict[str, str]:
    """The colors of the site's light theme."""
    css = (paths.ROOT / "overrides/assets/site.css").read_text(encoding="utf-8")
    colors = dict(COLOR.findall(css[: css.index("@media screen {")]))
    return colors | {"--figure-muted": "#8a8d94", "--figure-paper": "#ffffff", "--paper": "#ffffff"}


def extract_figure(name: str, svg: etree._Element) -> Part:
    """Make a file of a figure, and replace it in the page by an image."""
    colors = light_colors()
    image = E.img(src=f"figures/{name}.svg", alt=svg.get("aria-label", ""))
    image.set("style", f"width: {float(svg.get('width', '520').rstrip('pt')):.0f}px")
    image.tail, svg.tail = svg.tail, None
    svg.getparent().replace(svg, image)
    for key in ("role", "aria-label"):
        svg.attrib.pop(key, None)
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    svg.set("font-family", "sans-serif")
    svg.set("color", colors["--ink"])
    for element in svg.iter(etree.Element):
        for key, value in element.items():
            element.set(key, VARIABLE.sub(lambda variable: colors[variable[1]], value))
        rename_ids(element, xml_id)
        if element.tag in ("use", "image") and "href" in element.attrib:
            element.set(f"{{{XLINK}}}href", element.attrib.pop("href"))
    svg.insert(0, E.rect(width="100%", height="100%", fill="#ffffff"))
    etree.cleanup_namespaces(svg, top_nsmap={"xlink": XLINK})
    return Part(f"figures/{name}.svg", serialize(svg), "image/svg+xml")


def replace_formulas(article: etree._Element) -> None:
    """Replace each formula by its MathML."""
    for formula in article.xpath(f".//*[{has_class('katex')}]"):
        math = formula.find(".//math")
        etree.strip_elements(math, "annotation")
        etree.strip_tags(math, "semantics")
        math.set("xmlns", MATHML)
        parent = formula.getparent()
        if "katex-display" in parent.get("class", ""):
            math.set("display", "block")
        math.tail = formula.tail
        parent.replace(formula, math)


def unfold_details(article: etree._Element) -> None:
    """Show the content of folded blocks, which few reading systems can open."""
    for details in article.xpath(".//details"):
        details.tag = "div"
        details.set("class", f"folded {details.get('class', '')}".strip())
        summary = details.find("summary")
        if summary is not None:
            summary.tag = "p"
            summary.set("class", "folded-title")


def mark_footnotes(article: etree._Element) -> None:
    """Mark footnotes and their references, so that reading systems can show them as popups."""
    for link in article.xpath(f".//a[{has_class('footnote-ref')}]"):
        link.set(EPUB_TYPE, "noteref")
        link.set("role", "doc-noteref")
    for notes in article.xpath(f".//div[{has_class('footnote')}]"):
        notes.tag = "section"
        notes.set(EPUB_TYPE, "footnotes")
        notes.set("role", "doc-endnotes")
        for note in notes.xpath("./ol/li"):
            note.set(EPUB_TYPE, "footnote")
    for link in article.xpath(f".//a[{has_class('footnote-backref')}]"):
        link.set("role", "doc-backlink")


def navigation(book: Book) -> Part:
    """The table of contents."""
    chapters = E.ol()
    for chapter in book.chapters:
        file = f"{chapter.name}.xhtml"
        item = E.li(E.a(chapter.title, href=file))
        sections = [
            E.li(E.a(title, href=f"{file}#{xml_id(anchor)}"))
            for anchor, title in chapter.sections()
        ]
        if sections:
            item.append(E.ol(*sections))
        chapters.append(item)
    title = book.words("contents")
    nav = E.nav(E.h1(title), chapters, {EPUB_TYPE: "toc", "id": "toc", "role": "doc-toc"})
    return page_part(book, "contents", title, E.body(nav), "nav")


def title_page(book: Book) -> Part:
    """The title page, without the site's mark."""
    page = book.title_page()
    page.remove(page.find("img"))
    page.set("class", "title-page")
    return page_part(book, "title", book.title, E.body(page))


def cover_page(book: Book) -> Part:
    """The page with the cover image."""
    image = E.img(src="cover.png", alt=book.title)
    body = E.body(E.section(image, {EPUB_TYPE: "cover"}), {"class": "cover"})
    return page_part(book, "cover", book.title, body)


def package(book: Book, parts: list[Part]) -> bytes:
    """The package document: metadata, list of files, reading order."""
    root = etree.Element("package", nsmap={None: OPF, "dc": DC})
    for key, value in {"version": "3.0", "unique-identifier": "id"}.items():
        root.set(key, value)
    root.set(XML_LANG, book.language_code)
    metadata = etree.SubElement(root, "metadata")
    elements = {
        "title": book.title,
        "language": book.language_code,
        "creator": authors(),
        "description": book.description,
        "rights": book.rights,
        "source": book.address,
        "date": f"{book.date:%Y-%m-%d}",
    }
    identifier = etree.SubElement(metadata, f"{{{DC}}}identifier", id="id")
    identifier.text = uuid.uuid5(uuid.NAMESPACE_URL, book.address).urn
    for key, value in elements.items():
        etree.SubElement(metadata, f"{{{DC}}}{key}").text = value
    properties = [("dcterms:modified", f"{book.date:%Y-%m-%dT%H:%M:%SZ}")]
    properties += [
        (f"schema:{key}", each) for key, values in ACCESSIBILITY.items() for each in values
    ]
    properties += [("schema:accessibilitySummary", ACCESSIBILITY_SUMMARY[book.language])]
    for key, value in properties:
        etree.SubElement(metadata, "meta", property=key).text = value
    manifest = etree.SubElement(root, "manifest")
    spine = etree.SubElement(root, "spine")
    for number, part in enumerate(parts):
        item = {"id": f"part-{number}", "href": part.name, "media-type": part.media_type}
        if part.properties:
            item["properties"] = part.properties
        etree.SubElement(manifest, "item", item)
        if part.in_spine:
            etree.SubElement(spine, "itemref", idref=item["id"])
    return serialize(root)


def zip_parts(book: Book, parts: list[Part]) -> bytes:
    """The EPUB file; every entry has the date of the commit, for reproducible bytes."""
    files = {f"book/{part.name}": part.content for part in parts}
    files |= {"META-INF/container.xml": CONTAINER, "book/package.opf": package(book, parts)}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in ["mimetype", *sorted(files)]:
            entry = zipfile.ZipInfo(name, book.date.timetuple()[:6])
            entry.external_attr = 0o644 << 16
            first = name == "mimetype"  # must be uncompressed
            entry.compress_type = zipfile.ZIP_STORED if first else zipfile.ZIP_DEFLATED
            archive.writestr(entry, b"application/epub+zip" if first else files[name])
    return data.getvalue()


def make_epub(book: Book, cover: bytes) -> bytes:
    """The EPUB in one language, with its cover as a PNG."""
    parts = [cover_page(book), title_page(book), navigation(book)]
    for chapter in book.chapters:
        parts += chapter_parts(book, chapter)
    parts.append(Part("cover.png", cover, "image/png", "cover-image"))
    parts.append(Part("style.css", STYLE.read_bytes(), "text/css"))
    return zip_parts(book, parts)
