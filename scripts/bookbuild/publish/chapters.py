"""Read the chapters of the book from the built site, for the PDF."""

import datetime
import re
import subprocess
from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import yaml
from lxml import etree, html
from playwright.sync_api import Page

from bookbuild.pages import paths
from bookbuild.pages.templates import read_template, render

CONTENTS_TITLES = {"en": "Contents", "zh": "目录"}
HOME_TITLES = {"en": "About this book", "zh": "关于本书"}
LANGUAGE_CODES = {"en": "en", "zh": "zh-CN"}
NEXT_PAGE_LINK = re.compile(r'<link rel="next" href="([^"]+)">')


class Chapter(NamedTuple):
    """A page of the site as a chapter of the book."""

    name: str  # text-to-vectors
    title: str
    sections: list[tuple[str, str]]  # their ids and titles
    article: str  # XHTML

    def parse(self) -> html.HtmlElement:
        """The article as elements."""
        return etree.fromstring(self.article, html.XHTMLParser())


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
        return LANGUAGE_CODES[self.language]

    @property
    def edition(self) -> str:
        """The line with the date and the version."""
        if self.language == "zh":
            date = f"{self.date.year} 年 {self.date.month} 月 {self.date.day} 日"
            return f"{date}，版本 {self.version}"
        return f"As of {self.date.day} {self.date:%B %Y}, version {self.version}"

    def render(self, template: str, **values: object) -> str:
        """The text of a template about this book."""
        return render(template, self.language, book=self, **values)


def read_citation_file() -> dict:
    return yaml.safe_load((paths.ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def authors() -> str:
    return ", ".join(each["name"] for each in read_citation_file()["authors"])


def last_commit() -> tuple[datetime.datetime, str]:
    """The date and hash of the last commit; without Git, those of the release in CITATION.cff."""
    own = f"safe.directory={paths.ROOT}"  # even if the folder belongs to another user
    command = ["git", "-c", own, "-C", str(paths.ROOT), "log", "-1"]
    command += ["--format=%cI %h", "--abbrev=10"]  # of one length in every clone
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=True)
        date, version = process.stdout.split()
        return datetime.datetime.fromisoformat(date).astimezone(datetime.UTC), version
    except (OSError, subprocess.CalledProcessError):
        release = read_citation_file()
        date = datetime.datetime.combine(release["date-released"], datetime.time(), datetime.UTC)
        return date, str(release["version"])


def site_folder(site: Path, language: str) -> Path:
    """The folder of a built site with the pages of a language."""
    return site / "zh" if language == "zh" else site


def read_metas(page: Path) -> dict[str, str]:
    """The texts of the meta elements of a page by their properties."""
    head = html.fromstring(page.read_bytes()).head
    return {meta.get("property"): meta.get("content") for meta in head.iter("meta")}


def site_pages(site: Path, language: str) -> Iterator[tuple[str, str]]:
    """The address and HTML of each page, in the order of the links to the next page."""
    url = "/zh/" if language == "zh" else "/"
    while url:
        text = (site / url[1:] / "index.html").read_text(encoding="utf-8")
        yield url, text
        link = NEXT_PAGE_LINK.search(text)
        url = urljoin(url, link[1]) if link else ""


def read_book(page: Page, site: Path, language: str) -> Book:
    """The book in one language."""
    pages = dict(site_pages(site, language))
    home, *_ = pages
    names = {url: url.rstrip("/").rpartition("/")[2] for url in pages} | {home: "about"}
    titles = {home: HOME_TITLES[language]}
    script = read_template("read_page.js")
    contents = [
        page.evaluate(script, [text, url, names, titles.get(url)]) for url, text in pages.items()
    ]
    date, version = last_commit()
    return Book(
        language,
        **contents[0]["book"],
        date=date,
        version=version,
        style_sheets=merge_style_sheets(content["styleSheets"] for content in contents),
        chapters=[Chapter(**content["chapter"]) for content in contents],
    )


def merge_style_sheets(lists: Iterable[list[str]]) -> list[str]:
    """All style sheets, in an order that keeps the order of each list."""
    order = TopologicalSorter[str]()
    for style_sheets in lists:
        for sheet, next_sheet in pairwise(style_sheets):
            order.add(next_sheet, sheet)
    return [*order.static_order()]
