"""The whole book to keep: a PDF and an EPUB in each language, made from the built site.

usage: python -m bookbuild.publish.editions [SITE]   (default: site)
"""

import copy
import datetime
import io
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import pikepdf
import yaml
from lxml import etree
from playwright.sync_api import Page, Route, sync_playwright

from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import built_site, chromium, epub
from bookbuild.publish.epub import has, rename

NAME = "transformer-line-by-line"
STYLES = Path(__file__).with_name("styles")
BASE = "http://book.localhost"  # what Chromium asks for is answered from the site's folder
WORDS = {
    "en": {
        "contents": "Contents",
        "home": "About this book",
        "version": "As of {date}, version {version}",
        "address": "To be searched, tried and touched at",
    },
    "zh": {
        "contents": "目录",
        "home": "关于本书",
        "version": "{date}，版本 {version}",
        "address": "可以搜索、可以动手试的网页版：",
    },
}
# A page of the site as XML: a browser knows best how to read HTML.
READ = """html => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const link = rel => page.querySelector(`link[rel=${rel}]`)?.getAttribute("href") ?? null;
  return {
    next: link("next"),
    canonical: link("canonical"),
    sheets: [...page.querySelectorAll("link[rel=stylesheet]")].map(e => e.getAttribute("href")),
    title: page.querySelector("meta[property='og:site_name']").content,
    about: page.querySelector("meta[name=description]").content,
    rights: page.querySelector(".md-copyright__highlight").textContent.trim(),
    article: new XMLSerializer().serializeToString(page.querySelector("article")),
  };
}"""


class Chapter(NamedTuple):
    """A page of the site as a chapter of the book."""

    name: str  # text-to-vectors
    url: str  # /zh/labs/text-to-vectors/
    title: str
    article: etree._Element

    def sections(self) -> Iterator[tuple[str, str]]:
        """The anchor and the title of each section."""
        for heading in self.article.iter("h2"):
            yield heading.get("id", ""), text_of(heading)


class Whole(NamedTuple):
    """The book in one language."""

    language: str
    title: str
    about: str
    rights: str
    address: str  # of the site, in this language
    date: datetime.datetime  # of the commit
    version: str  # and its name
    sheets: list[str]
    chapters: list[Chapter]

    def say(self, key: str, **values: object) -> str:
        return WORDS[self.language][key].format(**values)

    @property
    def edition(self) -> str:
        date = self.date
        english = f"{date.day} {date:%B %Y}"
        chinese = f"{date.year} 年 {date.month} 月 {date.day} 日"
        day = english if self.language == "en" else chinese
        return self.say("version", date=day, version=self.version)


def edition() -> tuple[datetime.datetime, str]:
    """When the last change was made, and its short name; without Git, those of the citation."""
    command = ["git", "-C", str(paths.ROOT), "log", "-1", "--format=%cI %h"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        date, version = told.split()
        return datetime.datetime.fromisoformat(date).astimezone(datetime.UTC), version
    except (OSError, subprocess.CalledProcessError):
        cited = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
        day = datetime.datetime.combine(cited["date-released"], datetime.time(), datetime.UTC)
        return day, str(cited["version"])


def plain_names(root: etree._Element) -> etree._Element:
    """Names without namespaces; the roots of pictures and formulas say theirs as HTML does."""
    for element in root.iter(etree.Element):
        space, _, name = element.tag.rpartition("}")
        parent = element.getparent()
        element.tag = name
        if space.endswith(("svg", "MathML")) and (parent is None or name in ("svg", "math")):
            element.set("xmlns", space.lstrip("{"))
        for key in [key for key in element.attrib if key.startswith("{")]:
            value = element.attrib.pop(key)
            element.set("href" if key.endswith("}href") else key.rpartition("}")[2], value)
    etree.cleanup_namespaces(root)
    return root


def drop(root: etree._Element, xpath: str) -> None:
    for element in root.xpath(xpath):
        element.tag = "dropped"
    etree.strip_elements(root, "dropped", with_tail=False)


def unwrap(root: etree._Element, xpath: str) -> None:
    for element in root.xpath(xpath):
        element.tag = "unwrapped"
    etree.strip_tags(root, "unwrapped")


def text_of(element: etree._Element) -> str:
    """Its text, formulas once."""
    return "".join(element.xpath(f".//text()[not(ancestor::*[{has('katex-mathml')}])]")).strip()


def read(page: Page, site: Path, language: str) -> Whole:
    """The chapters in the order in which the site leads from one to the next."""
    url: str | None = "/zh/" if language == "zh" else "/"
    first: dict = {}
    chapters: list[Chapter] = []
    sheets: list[str] = []
    while url:
        html = (site / url[1:] / "index.html").read_text(encoding="utf-8")
        found = page.evaluate(READ, html)
        first = first or found
        sheets = merged(sheets, [urljoin(url, sheet) for sheet in found["sheets"]])
        article = plain_names(etree.fromstring(found["article"]))
        tidy(article)
        home = found is first
        name = "about" if home else url.rstrip("/").rpartition("/")[2]
        (heading,) = article.iter("h1")
        if home:
            heading[:], heading.text = [], WORDS[language]["home"]
        heading.set("id", name)
        chapters.append(Chapter(name, url, text_of(heading), article))
        url = found["next"] and urljoin(url, found["next"])
    return Whole(
        language,
        first["title"],
        first["about"],
        first["rights"],
        first["canonical"],
        *edition(),
        sheets,
        chapters,
    )


def merged(sheets: list[str], more: list[str]) -> list[str]:
    """All style sheets, each behind those that a page has before it."""
    place, found = 0, [*sheets]
    for sheet in more:
        if sheet not in found:
            found.insert(place, sheet)
        place = found.index(sheet) + 1
    return found


def tidy(article: etree._Element) -> None:
    """Leaves out what only a page in a browser can do."""
    links = f".//p[a[{has('md-button')}]]"
    drop(article, f".//div[{has('hero')}]{links[1:]}")
    drop(article, f".//a[{has('footnote-backref')}][position() > 1]")
    drop(article, " | ".join(f".//*[{has(name)}]" for name in SCREEN))
    unwrap(article, ".//abbr | .//wbr")
    unwrap(article, f".//*[{has('highlight')}]//span[not(@*)]")
    for element in article.iter(etree.Element):
        for key in ("tabindex", "download", "data-search-exclude", "markdown"):
            element.attrib.pop(key, None)
    for code in article.xpath(f".//*[{has('annotate')}]//code"):
        mark_notes(code)


SCREEN = ("md-content__button", "headerlink", "touch", "files")
NOTE = re.compile(r"^(.*?)(?:# )?\((\d+)\)!?$", re.S)


def mark_notes(code: etree._Element) -> None:
    """The numbers that lead from lines of code to their notes."""
    for comment in code.xpath(".//span[starts-with(@class, 'c')]"):
        match = NOTE.match(comment.text or "")
        if match:
            comment.text = match[1]
            mark = etree.Element("span", {"class": "note-mark"})
            mark.text, mark.tail = match[2], comment.tail
            comment.tail = None
            comment.addnext(mark)


def relink(whole: Whole, chapter: Chapter, article: etree._Element, inside: Callable) -> None:
    """Links to chapters go where inside(name, anchor) says; others to where they stand."""
    names = {each.url: each.name for each in whole.chapters}
    root = whole.address.removesuffix(whole.chapters[0].url.lstrip("/"))
    for link in article.iter("a"):
        target = urlsplit(urljoin(chapter.url, link.get("href", "")))
        if target.netloc or target.scheme:
            continue
        if target.path in names:
            link.set("href", inside(names[target.path], target.fragment))
        else:
            link.set("href", urljoin(root, target.geturl().lstrip("/")))


def element(tag: str, attributes: dict[str, str], *content: str | etree._Element):
    made = etree.Element(tag, attributes)
    for each in content:
        if isinstance(each, str):
            if len(made):
                made[-1].tail = (made[-1].tail or "") + each
            else:
                made.text = (made.text or "") + each
        else:
            made.append(each)
    return made


def anchor(name: str, fragment: str) -> str:
    """A chapter's anchor within the whole book."""
    return f"{name}--{fragment}" if fragment and fragment != name else name


def for_print(whole: Whole, chapter: Chapter) -> etree._Element:
    """A chapter with anchors of its own, everything unfolded, and formulas once."""
    article = copy.deepcopy(chapter.article)
    relink(whole, chapter, article, lambda name, fragment: "#" + anchor(name, fragment))
    for each in article.iter(etree.Element):
        rename(each, lambda name: anchor(chapter.name, name))
        if each.tag == "details":
            each.set("open", "")
    drop(article, f".//*[{has('katex-mathml')}]")
    for drawn in article.xpath(f".//*[{has('katex-html')}]"):
        del drawn.attrib["aria-hidden"]
    article.set("style", f"page: {chapter.name}")  # whose margin has the chapter's title
    return article


def cover(whole: Whole) -> etree._Element:
    return element(
        "section",
        {"class": "cover"},
        element("img", {"src": "/assets/mark.svg", "alt": ""}),
        element("p", {"class": "title"}, whole.title),
        element("p", {"class": "about"}, whole.about),
        element(
            "div",
            {"class": "edition"},
            element("p", {}, whole.edition),
            element(
                "p",
                {},
                whole.say("address") + " ",
                element("a", {"href": whole.address}, whole.address),
            ),
            element("p", {}, whole.rights),
        ),
    )


def contents(whole: Whole, pages: dict[str, int]) -> etree._Element:
    """The table of contents; a page's number, once it is known, at the end of its line."""

    def line(target: str, title: str, *below: etree._Element) -> etree._Element:
        number = str(pages.get(target, ""))
        link = element(
            "a",
            {"href": f"#{target}"},
            element("span", {"class": "name"}, title),
            element("span", {"class": "number"}, number),
        )
        return element("li", {}, link, *below)

    def sections(chapter: Chapter) -> Iterator[etree._Element]:
        lines = [line(anchor(chapter.name, id), title) for id, title in chapter.sections()]
        if lines:
            yield element("ol", {}, *lines)

    lines = [line(each.name, each.title, *sections(each)) for each in whole.chapters]
    heading = element("h1", {"id": "contents"}, whole.say("contents"))
    return element("nav", {"class": "contents"}, heading, element("ol", {}, *lines))


def quoted(text: str) -> str:
    """As a string of CSS."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


SCHEME = {"data-md-color-scheme": "default", "class": "md-typeset", "dir": "ltr"}


def print_page(whole: Whole, parts: Iterable[etree._Element], extra: str = "") -> bytes:
    """The page that Chromium prints."""
    heads = "".join(
        f"@page {each.name} {{ @top-right {{ content: {quoted(each.title)} }} }}\n"
        for each in whole.chapters
    )
    top = f"@page {{ @top-left {{ content: {quoted(whole.title)} }} }}\n"
    style = (STYLES / "pdf.css").read_text(encoding="utf-8") + top + heads + extra
    links = [element("link", {"rel": "stylesheet", "href": sheet}) for sheet in whole.sheets]
    document = element(
        "html",
        {"xmlns": "http://www.w3.org/1999/xhtml", "lang": whole.language, "class": "js"},
        element(
            "head",
            {},
            element("meta", {"charset": "utf-8"}),
            element("title", {}, whole.title),
            *links,
            element("style", {}, style),
        ),
        element(
            "body", {"data-md-color-scheme": "default", "class": "md-typeset", "dir": "ltr"}, *parts
        ),
    )
    return etree.tostring(document, encoding="utf-8", doctype="<!DOCTYPE html>")


def show(page: Page, site: Path, html: bytes) -> None:
    """Opens what stands in the site's root, as it were."""

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/book.xhtml":
            route.fulfill(body=html, content_type="application/xhtml+xml")
        else:
            route.fulfill(path=site / path[1:])

    page.unroute(f"{BASE}/**")
    page.route(f"{BASE}/**", answer)
    page.goto(f"{BASE}/book.xhtml")
    page.evaluate("document.fonts.ready")


def print_pdf(page: Page, site: Path, html: bytes) -> pikepdf.Pdf:
    show(page, site, html)
    made = page.pdf(prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    return pikepdf.open(io.BytesIO(numbered_anew(made)))


NODE = re.compile(rb"\(node\d{8}\)")


def numbered_anew(pdf: bytes) -> bytes:
    """Heads of tables are numbered by all that the browser has ever shown: here, from 0."""
    names = {
        name: b"(node%08d)" % count for count, name in enumerate(sorted(set(NODE.findall(pdf))))
    }
    return NODE.sub(lambda match: names[match[0]], pdf)


def destinations(pdf: pikepdf.Pdf) -> dict[str, int]:
    """The number of the page that each anchor stands on."""
    numbers: dict = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}
    found = {}
    for name, target in pdf.Root.Dests.items():
        page = target[0]
        assert isinstance(page, pikepdf.Object)
        found[name.lstrip("/")] = numbers[page.objgen]
    return found


ONLY_NUMBERS = """
body * { visibility: hidden }
.number { visibility: visible !important }
@page {
  @top-left { content: none !important }
  @bottom-center { content: none !important }
}
"""


def make_pdf(page: Page, site: Path, whole: Whole) -> bytes:
    """The book printed, then its first pages once more, now that the numbers are known.

    Chromium can't print the number of the page that a link leads to, so the numbers alone
    are printed in a second go and laid over the first one's table of contents.
    """
    chapters = [for_print(whole, chapter) for chapter in whole.chapters]
    front = [cover(whole), contents(whole, {})]
    pdf = print_pdf(page, site, print_page(whole, front + chapters))
    numbered = [cover(whole), contents(whole, destinations(pdf))]
    numbers = print_pdf(page, site, print_page(whole, numbered, extra=ONLY_NUMBERS))
    for below, above in zip(pdf.pages, numbers.pages, strict=False):
        lay_over(pdf, below, above)
    now = whole.date.strftime("D:%Y%m%d%H%M%SZ")
    info = {
        "/Title": whole.title,
        "/Author": author(),
        "/Subject": whole.about,
        "/CreationDate": now,
        "/ModDate": now,
        "/Creator": whole.address,
        "/Producer": str(pdf.docinfo["/Producer"]),
    }
    del pdf.docinfo
    for key, value in info.items():
        pdf.docinfo[key] = value
    pdf.Root.PageMode = pikepdf.Name.UseOutlines
    pdf.Root.Lang = pikepdf.String("en" if whole.language == "en" else "zh-CN")
    made = io.BytesIO()
    streams = pikepdf.ObjectStreamMode.generate
    pdf.save(made, object_stream_mode=streams, deterministic_id=True)
    return made.getvalue()


def lay_over(pdf: pikepdf.Pdf, below: pikepdf.Page, above: pikepdf.Page) -> None:
    """As Page.add_overlay does, which gives what it adds another name each time."""
    form = pdf.copy_foreign(above.as_form_xobject())
    name = below.add_resource(form, pikepdf.Name.XObject, pikepdf.Name("/Numbers"))
    below.contents_add(b"q", prepend=True)
    below.contents_add(f"Q q {name} Do Q".encode())


def author() -> str:
    cited = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return ", ".join(each["name"] for each in cited["authors"])


def make_epub(page: Page, site: Path, whole: Whole) -> bytes:
    """The EPUB; its cover is a picture of the PDF's first page."""
    page.set_viewport_size({"width": 900, "height": 1200})
    show(page, site, print_page(whole, [cover(whole)], extra="html { font-size: 20px }"))
    return epub.make(page, whole, cover(whole), author(), relink)


def make(site: Path, language: str, kinds: Iterable[str] = ("pdf", "epub")) -> dict[str, bytes]:
    """The book's files in one language, by their kind."""
    with sync_playwright() as playwright:
        # on paper a letter may be between two pixels
        browser = chromium.launch(playwright, "--font-render-hinting=none")
        page = browser.new_page()
        page.set_default_timeout(0)  # a busy machine takes its time
        whole = read(page, site, language)
        made = {}
        if "pdf" in kinds:
            made["pdf"] = make_pdf(page, site, whole)
        if "epub" in kinds:
            made["epub"] = make_epub(page, site, whole)
        browser.close()
    return made


def main() -> None:
    site = built_site.site_argument(__doc__)
    for language in LANGUAGES:
        folder = site / "zh" if language == "zh" else site
        for kind, made in make(site, language).items():
            path = folder / f"{NAME}.{kind}"
            write_file(path, made)
            print(path, f"{len(made) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
