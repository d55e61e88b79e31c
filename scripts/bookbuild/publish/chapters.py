"""Read the chapters of the book from the built site, for the PDF and the EPUB."""

import datetime
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml
from lxml import etree
from lxml.builder import E
from playwright.sync_api import Page

from bookbuild.pages import paths

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
# The browser parses the HTML of a page and returns its article as XML.
READ_PAGE = """html => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const link = rel => page.querySelector(`link[rel=${rel}]`)?.getAttribute("href") ?? null;
  return {
    next: link("next"),
    canonical: link("canonical"),
    styleSheets: [...page.querySelectorAll("link[rel=stylesheet]")]
      .map(each => each.getAttribute("href")),
    title: page.querySelector("meta[property='og:site_name']").content,
    description: page.querySelector("meta[name=description]").content,
    rights: page.querySelector(".md-copyright__highlight").textContent.trim(),
    article: new XMLSerializer().serializeToString(page.querySelector("article")),
  };
}"""
SCREEN_ONLY = ("md-content__button", "headerlink", "touch", "files")  # classes
ANNOTATION = re.compile(r"^(.*?)(?:# )?\((\d+)\)!?$", re.S)


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


class Book(NamedTuple):
    """The book in one language."""

    language: str
    title: str
    description: str
    rights: str
    address: str  # of the site in this language
    date: datetime.datetime  # of the commit
    version: str  # the abbreviated hash of the commit
    style_sheets: list[str]
    chapters: list[Chapter]

    @property
    def language_code(self) -> str:
        return {"en": "en", "zh": "zh-CN"}[self.language]

    def words(self, key: str, **values: object) -> str:
        return WORDS[self.language][key].format(**values)

    @property
    def edition(self) -> str:
        """The line with the date and the version."""
        english = f"{self.date.day} {self.date:%B %Y}"
        chinese = f"{self.date.year} 年 {self.date.month} 月 {self.date.day} 日"
        day = english if self.language == "en" else chinese
        return self.words("version", date=day, version=self.version)

    def title_page(self) -> etree._Element:
        address = E.p(self.words("address"), " ", E.a(self.address, href=self.address))
        return E.section(
            {"class": "cover"},
            E.img(src="/assets/mark.svg", alt=""),
            E.p(self.title, {"class": "title"}),
            E.p(self.description, {"class": "about"}),
            E.div(E.p(self.edition), address, E.p(self.rights), {"class": "edition"}),
        )


def citation() -> dict:
    return yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def authors() -> str:
    return ", ".join(each["name"] for each in citation()["authors"])


def last_commit() -> tuple[datetime.datetime, str]:
    """The date and hash of the last commit; without Git, those of the release in CITATION.cff."""
    command = ["git", "-C", str(paths.ROOT), "log", "-1", "--format=%cI %h"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        date, version = process.stdout.split()
        return datetime.datetime.fromisoformat(date).astimezone(datetime.UTC), version
    except (OSError, subprocess.CalledProcessError):
        released = citation()["date-released"]
        date = datetime.datetime.combine(released, datetime.time(), datetime.UTC)
        return date, str(citation()["version"])


def has_class(name: str) -> str:
    """The XPath condition that an element has this class."""
    return f"contains(concat(' ', @class, ' '), ' {name} ')"


def text_of(element: etree._Element) -> str:
    """The text of an element, without the hidden copy of each formula."""
    hidden = has_class("katex-mathml")
    return "".join(element.xpath(f".//text()[not(ancestor::*[{hidden}])]")).strip()


def remove_elements(root: etree._Element, xpath: str) -> None:
    for element in root.xpath(xpath):
        element.tag = "removed"
    etree.strip_elements(root, "removed", with_tail=False)


def unwrap_elements(root: etree._Element, xpath: str) -> None:
    for element in root.xpath(xpath):
        element.tag = "unwrapped"
    etree.strip_tags(root, "unwrapped")


def strip_namespaces(root: etree._Element) -> etree._Element:
    """Replace qualified names by plain ones as in HTML, with xmlns on figures and formulas."""
    for element in root.iter(etree.Element):
        namespace, _, name = element.tag.rpartition("}")
        parent = element.getparent()
        element.tag = name
        if namespace.endswith(("svg", "MathML")) and (parent is None or name in ("svg", "math")):
            element.set("xmlns", namespace.lstrip("{"))
        for key in [key for key in element.attrib if key.startswith("{")]:
            value = element.attrib.pop(key)
            element.set("href" if key.endswith("}href") else key.rpartition("}")[2], value)
    etree.cleanup_namespaces(root)
    return root


def rename_ids(element: etree._Element, new_name: Callable[[str], str]) -> None:
    """Rename an element's id and the ids that its SVG attributes refer to."""
    for key, value in element.items():
        if key == "id":
            element.set(key, new_name(value))
        elif key == "href" and element.tag != "a" and value.startswith("#"):
            element.set(key, "#" + new_name(value[1:]))
        elif "url(#" in value:
            element.set(key, re.sub(r"(?<=url\(#)[^)]*", lambda id: new_name(id[0]), value))


def read_book(page: Page, site: Path, language: str) -> Book:
    """The book, its chapters in the order of the site's links to the next page."""
    url: str | None = "/zh/" if language == "zh" else "/"
    home: dict = {}
    chapters: list[Chapter] = []
    style_sheets: list[str] = []
    while url:
        html = (site / url[1:] / "index.html").read_text(encoding="utf-8")
        content = page.evaluate(READ_PAGE, html)
        home = home or content
        page_sheets = [urljoin(url, sheet) for sheet in content["styleSheets"]]
        style_sheets = merge_style_sheets(style_sheets, page_sheets)
        article = strip_namespaces(etree.fromstring(content["article"]))
        remove_screen_elements(article)
        name = "about" if content is home else url.rstrip("/").rpartition("/")[2]
        (heading,) = article.iter("h1")
        if content is home:
            heading[:], heading.text = [], WORDS[language]["home"]
        heading.set("id", name)
        chapters.append(Chapter(name, url, text_of(heading), article))
        url = content["next"] and urljoin(url, content["next"])
    return Book(
        language,
        home["title"],
        home["description"],
        home["rights"],
        home["canonical"],
        *last_commit(),
        style_sheets,
        chapters,
    )


def merge_style_sheets(sheets: list[str], more: list[str]) -> list[str]:
    """All style sheets, in an order that keeps the order of each list."""
    position, merged = 0, [*sheets]
    for sheet in more:
        if sheet not in merged:
            merged.insert(position, sheet)
        position = merged.index(sheet) + 1
    return merged


def remove_screen_elements(article: etree._Element) -> None:
    """Remove elements and attributes that are useful only in a browser."""
    buttons = f".//p[a[{has_class('md-button')}]]"
    remove_elements(article, f".//div[{has_class('hero')}]{buttons[1:]}")
    remove_elements(article, f".//a[{has_class('footnote-backref')}][position() > 1]")
    remove_elements(article, " | ".join(f".//*[{has_class(name)}]" for name in SCREEN_ONLY))
    unwrap_elements(article, ".//abbr | .//wbr")
    unwrap_elements(article, f".//*[{has_class('highlight')}]//span[not(@*)]")
    for element in article.iter(etree.Element):
        for key in ("tabindex", "download", "data-search-exclude", "markdown"):
            element.attrib.pop(key, None)
    for code in article.xpath(f".//*[{has_class('annotate')}]//code"):
        mark_annotations(code)


def mark_annotations(code: etree._Element) -> None:
    """Replace the comments that refer to annotations by numbers."""
    for comment in code.xpath(".//span[starts-with(@class, 'c')]"):
        match = ANNOTATION.match(comment.text or "")
        if match:
            comment.text = match[1]
            mark = E.span(match[2], {"class": "note-mark"})
            mark.tail, comment.tail = comment.tail, None
            comment.addnext(mark)


def rewrite_links(
    book: Book, chapter: Chapter, article: etree._Element, address: Callable[[str, str], str]
) -> None:
    """Point links between chapters to address(name, anchor), and all others to the site."""
    names = {each.url: each.name for each in book.chapters}
    root = book.address.removesuffix(book.chapters[0].url.lstrip("/"))
    for link in article.iter("a"):
        target = urlsplit(urljoin(chapter.url, link.get("href", "")))
        if target.netloc or target.scheme:
            continue
        if target.path in names:
            link.set("href", address(names[target.path], target.fragment))
        else:
            link.set("href", urljoin(root, target.geturl().lstrip("/")))
