"""The book as a PDF: nothing is missing, and every link has a target."""

import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pikepdf
import pypdfium2
import pytest
from fontTools.ttLib import TTFont

import html_tree
from bookbuild.pages import contents
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import chapters, chromium
from bookbuild.publish.pdf import FILE_NAME, destination_pages
from built_pages import BuiltPage, assert_no_errors
from pdf_files import fonts_without_file, page_texts

MAX_BYTES = 15_000_000
HOME_PAGE_TITLES = {"en": "About this book", "zh": "关于本书"}  # of the home page
NON_TEXT_TAGS = frozenset({"math", "svg"})


class Edition(NamedTuple):
    """The PDF in one language, and the pages that it contains, in order."""

    language: str
    pdf: Path
    chapters: list[BuiltPage]

    def title(self, chapter: BuiltPage) -> str:
        return (
            HOME_PAGE_TITLES[self.language]
            if chapter.source.name == "index.md"
            else heading_texts(chapter, "h1")[0]
        )


def remove_spaces(text: str) -> str:
    """The text without spaces and hyphens, which differ between HTML and PDF."""
    return re.sub(r"[\s\u200b\ufffe\x02-]+", "", text)


def first_letters(element: html_tree.Element) -> str:
    """The first letters of a paragraph, up to a link, since a PDF adds its address, or to the end
    of a cell's first line, since the text of a PDF has the lines of a table's row in turn."""
    output = ""
    for child in element.children:
        if not isinstance(child, str) and child.tag == "br":
            break
        output += child if isinstance(child, str) else child.text()
        if len(remove_spaces(output)) > 20 or (not isinstance(child, str) and child.find("a")):
            break
    links = [a.text() for a in element.find("a") if remove_spaces(a.text())]
    whole = output.partition(links[0])[0] or links[0] if links else output
    return remove_spaces(whole)[:20]


def heading_texts(chapter: BuiltPage, tag: str) -> list[str]:
    return [
        each.text(NON_TEXT_TAGS).strip().removesuffix("#") for each in chapter.article.find(tag)
    ]


@pytest.fixture(scope="module", params=LANGUAGES)
def edition(request: pytest.FixtureRequest, site: Path, built_pages: list[BuiltPage]) -> Edition:
    language = request.param
    folder = site / "zh" if language == "zh" else site
    pdf = folder / FILE_NAME
    if not pdf.exists():
        pytest.fail(f"no {pdf.name} in {folder}: run scripts/publish", pytrace=False)
    pages = {page.source.name: page for page in built_pages if page.source.language == language}
    return Edition(language, pdf, [pages[name] for name in contents.ordered_pages()])


def test_the_home_page_and_every_footer_link_to_the_pdf(edition):
    assert edition.pdf.stat().st_size <= MAX_BYTES
    folder = edition.pdf.parent
    for page in edition.chapters:
        links = [a.attributes.get("href", "") for a in page.tree.find("a")]
        same_name = [link for link in links if link.endswith(FILE_NAME)]
        found = [link for link in same_name if (page.path.parent / link).resolve() == edition.pdf]
        assert len(found) == (2 if page.path.parent == folder else 1), page


@pytest.fixture(scope="module")
def pdf(edition: Edition) -> pikepdf.Pdf:
    return pikepdf.open(edition.pdf)


@pytest.fixture(scope="module")
def anchor_pages(pdf: pikepdf.Pdf) -> dict[str, int]:
    """The page number of each anchor."""
    return destination_pages(pdf)


@pytest.fixture(scope="module")
def pdf_page_texts(edition: Edition) -> list[str]:
    """The text of each page of the PDF."""
    return page_texts(edition.pdf)


def chapter_name(edition: Edition, chapter: BuiltPage) -> str:
    if chapter.source.name == "index.md":
        return "about"
    return chapter.source.name.removesuffix(".md").rpartition("/")[2]


def test_the_outline_has_every_chapter_and_its_sections_in_order(edition, pdf):
    with pdf.open_outline() as outline:
        contents, *found = outline.root
        assert contents.title == chapters.CONTENTS_TITLES[edition.language]
        assert [remove_spaces(item.title) for item in found] == [
            remove_spaces(edition.title(chapter)) for chapter in edition.chapters
        ]
        for item, chapter in zip(found, edition.chapters, strict=True):
            below = [remove_spaces(each.title) for each in item.children]
            assert below == [remove_spaces(title) for title in heading_texts(chapter, "h2")], (
                item.title
            )


def link_annotations(page: pikepdf.Page) -> list[pikepdf.Object]:
    return [each for each in page.get("/Annots", []) if each.Subtype == "/Link"]


def test_every_link_inside_the_book_leads_to_one_of_its_pages(pdf, anchor_pages):
    links = [link for page in pdf.pages for link in link_annotations(page)]
    inside = {str(link.Dest).lstrip("/") for link in links if "/Dest" in link}
    assert len(inside) > 100
    assert_no_errors(f"no page has {name}" for name in inside - anchor_pages.keys())
    outside = [str(link.A.URI) for link in links if "/Dest" not in link]
    assert_no_errors(f"{url} has no target" for url in outside if not url.startswith("https://"))


def test_the_table_of_contents_shows_the_page_numbers_of_its_links(edition, pdf, anchor_pages):
    document = pypdfium2.PdfDocument(edition.pdf)
    errors, count = [], 0
    for number in range(2, anchor_pages["about"]):
        text = document[number - 1].get_textpage()
        for link in link_annotations(pdf.pages[number - 1]):
            _, bottom, right, top = (float(each) for each in link.Rect)
            shown_number = text.get_text_bounded(right - 20, bottom, right + 1, top).strip()
            count += 1
            name = str(link.Dest).lstrip("/")
            if shown_number != str(anchor_pages[name]):
                errors.append(f"{name}: page {anchor_pages[name]}, contents: {shown_number!r}")
    assert count == sum(1 + len(heading_texts(chapter, "h2")) for chapter in edition.chapters)
    assert_no_errors(errors)


def test_the_pdf_has_the_text_of_every_chapter(edition, anchor_pages, pdf_page_texts):
    starts = [anchor_pages[chapter_name(edition, chapter)] for chapter in edition.chapters]
    errors = []
    for chapter, start, end in zip(
        edition.chapters, starts, [*starts[1:], len(pdf_page_texts) + 1], strict=True
    ):
        text = remove_spaces("".join(pdf_page_texts[start - 1 : end - 1]))
        expected = [
            first_letters(paragraph)
            for tag in ("p", "li", "td", "summary", "figcaption")
            for paragraph in chapter.article.find(tag)
            if not paragraph.find("", "katex")
            and not paragraph.find("a", "md-button")
            and not paragraph.find("svg")
            and "page-files" not in paragraph.node.getparent().get("class", "")
            and not set(paragraph.classes) & {"touch", "letters", "files", "page-files"}
        ]
        assert len(expected) > 5
        errors += [f"{chapter}: {each!r} is missing" for each in expected if each not in text]
    assert_no_errors(errors)


def test_every_font_is_embedded_and_has_every_character_of_the_book(pdf, built_pages):
    assert not fonts_without_file(pdf)
    characters = {ord(letter) for page in built_pages for letter in page.tree.text()}
    for folder in ElementTree.parse(chromium.FONT_CONFIG).getroot().iter("dir"):
        for file in (chromium.FONT_CONFIG.parent / str(folder.text)).glob("*.ttf"):
            characters -= TTFont(file).getBestCmap().keys()
    assert_no_errors(f"no font has U+{code:04X}" for code in characters if not chr(code).isspace())


def test_the_pdf_has_title_author_and_language(edition, pdf):
    (title,) = heading_texts(edition.chapters[0], "h1")
    assert str(pdf.docinfo["/Title"]) == title
    assert str(pdf.docinfo["/Author"])
    assert str(pdf.Root.Lang) == {"en": "en", "zh": "zh-CN"}[edition.language]
    assert pdf.Root.MarkInfo.Marked  # for screen readers
