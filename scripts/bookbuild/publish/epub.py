"""The book as an EPUB 3: a chapter a file, formulas as MathML, figures as pictures.

editions.py reads the chapters from the site and calls make().
"""

import copy
import io
import re
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from bookbuild.pages import paths
from bookbuild.publish.editions import Chapter, Whole

if TYPE_CHECKING:
    from playwright.sync_api import Page


XML = '<?xml version="1.0" encoding="utf-8"?>\n'
XHTML = "http://www.w3.org/1999/xhtml"
OPS = "http://www.idpf.org/2007/ops"
MATHML = "http://www.w3.org/1998/Math/MathML"
STYLE = Path(__file__).with_name("styles") / "epub.css"
COLOURS = re.compile(r"(--[\w-]+): (#[0-9a-f]{6});")
VARIABLE = re.compile(r"var\((--[\w-]+)\)")
COVER_SIZE = {"width": 1200, "height": 1600}
ACCESS = {  # what a reader who doesn't see or hear it all may want to know
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
SUMMARY = {
    "en": "Every figure has a text that says what it shows; every formula is MathML.",
    "zh": "每幅图都有说明其内容的文字；每个公式都是 MathML。",
}


class Part(NamedTuple):
    """A file of the EPUB."""

    name: str
    content: bytes
    media: str
    properties: str = ""
    in_spine: bool = False


def colours() -> dict[str, str]:
    """The light colours of the site's style sheet."""
    css = (paths.ROOT / "overrides/assets/site.css").read_text(encoding="utf-8")
    light = css[: css.index("@media screen {")]
    found = dict(COLOURS.findall(light))
    return found | {"--figure-muted": "#8a8d94", "--figure-paper": "#ffffff", "--paper": "#ffffff"}


def has(name: str) -> str:
    """The XPath condition that an element has this class."""
    return f"contains(concat(' ', @class, ' '), ' {name} ')"


def rename(element: etree._Element, name: Callable[[str], str]) -> None:
    """Gives an element's id, and those of the picture that it refers to, other names."""
    for key, value in element.items():
        if key == "id":
            element.set(key, name(value))
        elif key == "href" and element.tag != "a" and value.startswith("#"):
            element.set(key, "#" + name(value[1:]))
        elif "url(#" in value:
            element.set(key, re.sub(r"(?<=url\(#)[^)]*", lambda match: name(match[0]), value))


def document(whole: "Whole", title: str, body: etree._Element) -> bytes:
    """A page of the book as XHTML."""
    language = "en" if whole.language == "en" else "zh-CN"
    html = etree.Element("html", {"xmlns": XHTML, "xmlns_epub": OPS, "lang": language})
    html.set("xml_lang", language)
    head = etree.SubElement(html, "head")
    etree.SubElement(head, "title").text = title
    etree.SubElement(head, "link", {"rel": "stylesheet", "href": "style.css"})
    html.append(body)
    text = etree.tostring(html, encoding="unicode")
    return f"{XML}<!DOCTYPE html>\n{with_colons(text)}\n".encode()


def with_colons(text: str) -> str:
    """XML whose names have their prefixes; while it is put together they stand before a "_"."""
    return re.sub(r"(?<=[ </])(xmlns|xml|epub|dc)_(?=[a-z]+[ =>])", r"\1:", text)


def chapter_parts(whole: "Whole", chapter: "Chapter", relink: Callable) -> list[Part]:
    """The chapter's page and its figures."""
    article = copy.deepcopy(chapter.article)
    relink(whole, chapter, article, lambda name, at: f"{name}.xhtml" + (f"#{at}" if at else ""))
    figures = [
        picture(f"{chapter.name}-{number}", svg)
        for number, svg in enumerate(article.xpath(f".//*[{has('figure')}]/svg"), 1)
    ]
    formulas(article)
    unfold(article)
    footnotes(article)
    for each in article.iter(etree.Element):
        rename(each, safe)
        if each.tag == "a" and "#" in each.get("href", "") and "//" not in each.get("href"):
            page, _, fragment = each.get("href").partition("#")
            page = "" if page == f"{chapter.name}.xhtml" else page
            each.set("href", f"{page}#{safe(fragment)}")
        for key in [key for key in each.attrib if key.startswith("data-")]:
            del each.attrib[key]
        if each.tag in ("td", "th") and each.get("align"):
            each.set("style", f"text-align: {each.attrib.pop('align')}")
    body = etree.Element("body")
    article.tag = "section"
    article.attrib.clear()
    article.set("epub_type", "chapter")
    body.append(article)
    made = document(whole, chapter.title, body)
    properties = "mathml" if article.find(".//math") is not None else ""
    page = Part(f"{chapter.name}.xhtml", made, "application/xhtml+xml", properties, True)
    return [page, *figures]


def safe(name: str) -> str:
    """An id as XML wants it."""
    name = name.replace(":", "-")
    return name if name[:1].isalpha() else f"id-{name}"


def picture(name: str, svg: etree._Element) -> Part:
    """A figure as a file of its own; the page shows it as an image."""
    resolved = colours()
    parent = svg.getparent()
    image = etree.Element("img", {"src": f"figures/{name}.svg", "alt": svg.get("aria-label", "")})
    image.set("style", f"width: {float(svg.get('width', '520').rstrip('pt')):.0f}px")
    image.tail = svg.tail
    svg.tail = None
    parent.replace(svg, image)
    for key in ("role", "aria-label"):
        svg.attrib.pop(key, None)
    svg.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    svg.set("font-family", "sans-serif")
    svg.set("color", resolved["--ink"])
    for each in svg.iter(etree.Element):
        for key, value in each.items():
            each.set(key, VARIABLE.sub(lambda match: resolved[match[1]], value))
        rename(each, safe)
    paper = etree.Element("rect", {"width": "100%", "height": "100%", "fill": "#ffffff"})
    svg.insert(0, paper)
    text = etree.tostring(svg, encoding="unicode")
    text = re.sub(r'(<(?:use|image)\b[^>]*?) href="', r'\1 xlink:href="', text)
    if "xlink:href" in text:
        text = text.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1)
    return Part(f"figures/{name}.svg", text.encode(), "image/svg+xml")


def formulas(article: etree._Element) -> None:
    """MathML in place of what KaTeX draws."""
    for formula in article.xpath(f".//*[{has('katex')}]"):
        math = formula.find(".//math")
        etree.strip_elements(math, "annotation")
        etree.strip_tags(math, "semantics")
        math.set("xmlns", MATHML)
        holder = formula.getparent()
        if "katex-display" in holder.get("class", ""):
            math.set("display", "block")
        math.tail = formula.tail
        holder.replace(formula, math)


def unfold(article: etree._Element) -> None:
    """Few reading systems fold, so everything lies open under its title."""
    for details in article.xpath(".//details"):
        details.tag = "div"
        details.set("class", f"folded {details.get('class', '')}".strip())
        summary = details.find("summary")
        if summary is not None:
            summary.tag = "p"
            summary.set("class", "folded-title")


def footnotes(article: etree._Element) -> None:
    """Notes as reading systems know them: those that can show them where they are called."""
    for link in article.xpath(f".//a[{has('footnote-ref')}]"):
        link.set("epub_type", "noteref")
        link.set("role", "doc-noteref")
    for notes in article.xpath(f".//div[{has('footnote')}]"):
        notes.tag = "section"
        notes.set("epub_type", "footnotes")
        notes.set("role", "doc-endnotes")
        for note in notes.xpath("./ol/li"):
            note.set("epub_type", "footnote")
    for link in article.xpath(f".//a[{has('footnote-backref')}]"):
        link.set("role", "doc-backlink")


def navigation(whole: "Whole") -> Part:
    def entry(href: str, title: str) -> etree._Element:
        item = etree.Element("li")
        etree.SubElement(item, "a", {"href": href}).text = title
        return item

    body = etree.Element("body")
    nav = etree.SubElement(body, "nav", {"epub_type": "toc", "id": "toc", "role": "doc-toc"})
    etree.SubElement(nav, "h1").text = whole.say("contents")
    chapters = etree.SubElement(nav, "ol")
    for chapter in whole.chapters:
        item = entry(f"{chapter.name}.xhtml", chapter.title)
        chapters.append(item)
        sections = [*chapter.sections()]
        if sections:
            below = etree.SubElement(item, "ol")
            for anchor, title in sections:
                below.append(entry(f"{chapter.name}.xhtml#{safe(anchor)}", title))
    made = document(whole, whole.say("contents"), body)
    return Part("contents.xhtml", made, "application/xhtml+xml", "nav", True)


def title_page(whole: "Whole", front: etree._Element) -> Part:
    """What stands on the PDF's first page, without the picture."""
    body = etree.Element("body")
    page = copy.deepcopy(front)
    for image in page.iter("img"):
        page.remove(image)
    page.set("class", "title-page")
    body.append(page)
    made = document(whole, whole.title, body)
    return Part("title.xhtml", made, "application/xhtml+xml", "", True)


def cover_page(whole: "Whole") -> Part:
    body = etree.Element("body", {"class": "cover"})
    section = etree.SubElement(body, "section", {"epub_type": "cover"})
    etree.SubElement(section, "img", {"src": "cover.png", "alt": whole.title})
    made = document(whole, whole.title, body)
    return Part("cover.xhtml", made, "application/xhtml+xml", "", True)


def package(whole: "Whole", parts: list[Part], author: str) -> bytes:
    """The list of all that is in the book, and what it is."""
    language = "en" if whole.language == "en" else "zh-CN"
    root = etree.Element(
        "package",
        {
            "xmlns": "http://www.idpf.org/2007/opf",
            "version": "3.0",
            "unique-identifier": "id",
            "xml_lang": language,
        },
    )
    about = etree.SubElement(root, "metadata", {"xmlns_dc": "http://purl.org/dc/elements/1.1/"})

    def tell(tag: str, text: str, **attributes: str) -> None:
        etree.SubElement(about, tag, attributes).text = text

    tell("dc_identifier", f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, whole.address)}", id="id")
    tell("dc_title", whole.title)
    tell("dc_language", language)
    tell("dc_creator", author)
    tell("dc_description", whole.about)
    tell("dc_rights", whole.rights)
    tell("dc_source", whole.address)
    tell("dc_date", f"{whole.date:%Y-%m-%d}")
    tell("meta", f"{whole.date:%Y-%m-%dT%H:%M:%SZ}", property="dcterms:modified")
    for key, values in ACCESS.items():
        for value in values:
            tell("meta", value, property=f"schema:{key}")
    tell("meta", SUMMARY[whole.language], property="schema:accessibilitySummary")
    manifest = etree.SubElement(root, "manifest")
    spine = etree.SubElement(root, "spine")
    for number, part in enumerate(parts):
        item = {"id": f"part-{number}", "href": part.name, "media-type": part.media}
        if part.properties:
            item["properties"] = part.properties
        etree.SubElement(manifest, "item", item)
        if part.in_spine:
            etree.SubElement(spine, "itemref", {"idref": item["id"]})
    return f"{XML}{with_colons(etree.tostring(root, encoding='unicode'))}\n".encode()


CONTAINER = b"""<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""


def packed(whole: "Whole", parts: list[Part], author: str) -> bytes:
    """The zip; its dates are that of the version, so that the same book has the same bytes."""
    files = {f"book/{part.name}": part.content for part in parts}
    files |= {
        "META-INF/container.xml": CONTAINER,
        "book/package.opf": package(whole, parts, author),
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in ["mimetype", *sorted(files)]:
            entry = zipfile.ZipInfo(name, whole.date.timetuple()[:6])
            entry.external_attr = 0o644 << 16
            first = name == "mimetype"  # uncompressed, so that anybody finds it at byte 38
            entry.compress_type = zipfile.ZIP_STORED if first else zipfile.ZIP_DEFLATED
            archive.writestr(entry, b"application/epub+zip" if first else files[name])
    return made.getvalue()


def make(
    page: "Page", whole: "Whole", front: etree._Element, author: str, relink: Callable
) -> bytes:
    """The EPUB in one language; page shows its cover, front is what stands on that."""
    cover = Part("cover.png", page.screenshot(), "image/png", "cover-image")
    parts = [cover_page(whole), title_page(whole, front), navigation(whole)]
    for chapter in whole.chapters:
        parts += chapter_parts(whole, chapter, relink)
    parts += [cover, Part("style.css", STYLE.read_bytes(), "text/css")]
    return packed(whole, parts, author)
