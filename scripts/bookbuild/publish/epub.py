"""The book as an EPUB 3: a file for each chapter, formulas as MathML, figures as images."""

import io
import re
import uuid
import zipfile
from pathlib import PurePosixPath
from typing import NamedTuple

from lxml import etree, html
from lxml.builder import ElementMaker

from bookbuild.pages import paths
from bookbuild.pages.templates import read_template
from bookbuild.publish.chapters import CONTENTS_TITLES, Book, Chapter

XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
EPUB_NAMESPACE = "http://www.idpf.org/2007/ops"
EPUB_TYPE = f"{{{EPUB_NAMESPACE}}}type"
etree.register_namespace("epub", EPUB_NAMESPACE)
xhtml_element = ElementMaker(namespace=XHTML_NAMESPACE)
MEDIA_TYPES = {
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".xhtml": "application/xhtml+xml",
}
CSS_COLOR = re.compile(r"(--[\w-]+): (#[0-9a-f]{6});")
CSS_VARIABLE = re.compile(r"var\((--[\w-]+)\)")


class EpubFile(NamedTuple):
    """A file of the EPUB."""

    name: str
    content: bytes
    properties: str = ""

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[PurePosixPath(self.name).suffix]


def page_file(book: Book, name: str, title: str, properties: str = "", body: str = "") -> EpubFile:
    """A page of the EPUB as XHTML."""
    content = book.render("page.xhtml", name=name, title=title, body=body)
    return EpubFile(f"{name}.xhtml", content.encode(), properties)


def chapter_files(book: Book, chapter: Chapter) -> list[EpubFile]:
    """The chapter's page and its figures."""
    article = chapter.parse()
    article.tag = f"{{{XHTML_NAMESPACE}}}section"
    article.attrib.clear()
    article.set(EPUB_TYPE, "chapter")
    colors = light_colors()
    pictures = [svg for each in article.find_class("figure") for svg in each.findall("{*}svg")]
    figures = [
        extract_figure(f"{chapter.name}-{number}", svg, colors)
        for number, svg in enumerate(pictures, 1)
    ]
    replace_formulas(article)
    unfold_details(article)
    mark_footnotes(article)
    for link in article.iter("{*}a"):
        href = link.get("href", "")
        target = href[1:].partition("--")[0]
        if href.startswith("#") and target != chapter.name:
            link.set("href", f"{target}.xhtml{href}")
    for element in article.iter("*"):
        for key in [key for key in element.attrib if key.startswith("data-")]:
            del element.attrib[key]
    properties = "mathml" if article.find(".//{*}math") is not None else ""
    body = etree.tostring(article, encoding="unicode")
    return [page_file(book, chapter.name, chapter.title, properties, body), *figures]


def light_colors() -> dict[str, str]:
    """The colors of the site's light theme."""
    css = (paths.ROOT / "overrides/assets/site.css").read_text(encoding="utf-8")
    colors = dict(CSS_COLOR.findall(css[: css.index("@media screen {")]))
    return colors | {"--figure-muted": "#8a8d94", "--figure-paper": "#ffffff", "--paper": "#ffffff"}


def extract_figure(name: str, svg: html.HtmlElement, colors: dict[str, str]) -> EpubFile:
    """Make a file of a figure, and replace it in the page by an image."""
    image = xhtml_element.img(src=f"figures/{name}.svg", alt=svg.attrib.pop("aria-label"))
    image.set("style", f"width: {svg.get('width')}px")
    image.tail, svg.tail = svg.tail, None
    svg.getparent().replace(svg, image)
    del svg.attrib["role"]
    etree.strip_tags(svg, "{*}a")  # an image has no links
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    svg.set("font-family", "sans-serif")
    svg.set("color", colors["--ink"])
    for element in svg.iter("*"):
        for key, value in element.items():
            element.set(key, CSS_VARIABLE.sub(lambda variable: colors[variable[1]], value))
    background = {"width": "100%", "height": "100%", "fill": "#ffffff"}
    svg.insert(0, svg.makeelement("{http://www.w3.org/2000/svg}rect", background))
    etree.cleanup_namespaces(svg)
    return EpubFile(
        f"figures/{name}.svg", etree.tostring(svg, encoding="utf-8", xml_declaration=True)
    )


def replace_formulas(article: html.HtmlElement) -> None:
    """Replace each formula by its MathML."""
    for formula in article.find_class("katex"):
        math = formula.find(".//{*}math")
        math.tail = formula.tail
        formula.getparent().replace(formula, math)


def unfold_details(article: html.HtmlElement) -> None:
    """Show the content of folded blocks, which few reading systems can open."""
    for details in [*article.iter("{*}details")]:
        details.tag = f"{{{XHTML_NAMESPACE}}}div"
        details.classes.add("folded")
        for summary in details.findall("{*}summary"):
            summary.tag = f"{{{XHTML_NAMESPACE}}}p"
            summary.set("class", "folded-title")


def mark_footnotes(article: html.HtmlElement) -> None:
    """Mark footnotes and their references, so that reading systems can show them as popups."""
    for link in article.find_class("footnote-ref"):
        link.set(EPUB_TYPE, "noteref")
        link.set("role", "doc-noteref")
    for notes in article.find_class("footnote"):
        notes.tag = f"{{{XHTML_NAMESPACE}}}section"
        notes.set(EPUB_TYPE, "footnotes")
        notes.set("role", "doc-endnotes")
        for note in notes.findall("{*}ol/{*}li"):
            note.set(EPUB_TYPE, "footnote")
    for link in article.find_class("footnote-backref"):
        link.set("role", "doc-backlink")


def zip_files(book: Book, parts: list[EpubFile]) -> bytes:
    """The EPUB file; every entry has the date of the commit, for reproducible bytes."""
    identifier = uuid.uuid5(uuid.NAMESPACE_URL, book.address).urn
    package = book.render("package.opf", parts=parts, identifier=identifier)
    files = {
        "mimetype": b"application/epub+zip",  # must be the first, and uncompressed
        "META-INF/container.xml": read_template("container.xml").encode(),
        "book/package.opf": package.encode(),
        **{f"book/{part.name}": part.content for part in parts},
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, book.date.timetuple()[:6])
            entry.external_attr = 0o644 << 16
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, kind)
    return data.getvalue()


def make_epub(book: Book, cover: bytes) -> bytes:
    """The EPUB in one language, with its cover as a PNG."""
    parts = [page_file(book, name, book.title) for name in ("cover", "title")]
    parts.append(page_file(book, "contents", CONTENTS_TITLES[book.language], "nav"))
    for chapter in book.chapters:
        parts += chapter_files(book, chapter)
    parts.append(EpubFile("cover.png", cover, "cover-image"))
    parts.append(EpubFile("style.css", read_template("epub.css").encode()))
    return zip_files(book, parts)
