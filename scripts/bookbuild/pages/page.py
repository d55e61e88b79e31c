"""A page of the book: one source file in one language, read as text."""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages import contents, fresh, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import blank, line_number, parse_yaml, read_text
from bookbuild.pages.labs import notebooks
from bookbuild.pages.paths import LANGUAGES


def page_url(name: str) -> str:
    """The page's address relative to its language: attention/ for attention.md."""
    stem = name.removesuffix(".md").removesuffix("index")
    return f"{stem}/" if stem else ""


INCLUDE = re.compile(r'^ *--8<-- "([^":]+)(?::(\w+))?"$', re.M)
VALUE = re.compile(r"\{\{ (.*?) \}\}")
FIGURE = re.compile(r"!\[([^\]]*)\]\((figures/[^)]+\.svg)\)")
CODE_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^\n]*)\n.*?^\1\2$", re.M | re.S)
INLINE_CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
FOOTNOTE = re.compile(r"^\[\^([^\]]+)\]: *(.*(?:\n(?: {4}.*|(?=\n {4})))*)", re.M)
CITATION = re.compile(r"(?<![\w`])@([a-zA-Z][\w-]*\w)", re.A)  # in a footnote: @KEY
HEADING = re.compile(r"^(#{1,6}) +(.*?) *(?:\{ *#([\w-]+)[^}\n]*\})? *$", re.M)
FOLDED_ANSWER = re.compile(r'^\?\?\? success "Answer \d', re.M)  # of an exercise
WIDGET = re.compile('<div class="widget"')
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
PENDING = "pending"  # front matter `translation`, of a page that is behind its translation


class Include(NamedTuple):
    """A line --8<-- "file:section" of a page, and the heading above it."""

    file: str
    section: str | None
    title: str
    address: str  # masks.md#padding-mask


class Heading(NamedTuple):
    """A heading of a page, in Markdown, and its anchor; the page title has none."""

    line: int
    title: str
    anchor: str | None


@dataclass(frozen=True)
class SourcePage:
    """One page in one language."""

    language: str
    name: str  # embeddings.md; labs/look-inside.md for labs/look-inside.ipynb

    @property
    def path(self) -> Path:
        suffix = ".ipynb" if self.is_notebook else ".md"
        return (paths.DOCS / self.language / self.name).with_suffix(suffix)

    @property
    def display_path(self) -> Path:
        """The path to show in messages: docs/en/embeddings.md."""
        return self.path.relative_to(paths.ROOT)

    @property
    def translation(self) -> "SourcePage":
        """The same page in the other language."""
        other_language = LANGUAGES[1 - LANGUAGES.index(self.language)]
        return SourcePage(other_language, self.name)

    @property
    def is_notebook(self) -> bool:
        return self.name.startswith("labs/")

    @property
    def text(self) -> str:
        """The page's Markdown, converted if it is a notebook."""
        if self.is_notebook:
            return "".join(f"{text}\n" for text, _ in self.notebook_lines())
        return read_text(self.path)

    def notebook_lines(self) -> list[tuple[str, int]]:
        """The Markdown of a notebook, each line with its line number in the notebook."""
        return [*notebooks.markdown_page(self.path, self.language)]

    @property
    def meta(self) -> dict:
        """The front matter. Raises SourceError if it is not a YAML mapping."""
        match = FRONT_MATTER.match(self.text)
        meta = parse_yaml(self.path, match[1], 2) if match else {}
        if not isinstance(meta, dict):
            message = "the front matter is not a mapping; write description: TEXT"
            raise SourceError(self.path, 2, message)
        return meta

    @property
    def is_pending(self) -> bool:
        """Whether it is marked as behind its translation (scripts/translated --pending)."""
        match = self.path.exists() and FRONT_MATTER.match(self.text)
        return bool(match and re.search(rf'^translation: "?{PENDING}"?$', match[1], re.M))

    def own_anchors(self) -> set[str]:
        """The anchors of its headings."""
        return {heading.anchor for heading in headings(self.text) if heading.anchor}

    def anchors(self) -> set[str]:
        """The anchors of its headings; of a pending page also those of its translation, which
        the build adds below its title."""
        if self.is_pending and self.translation.path.exists():
            return self.own_anchors() | self.translation.own_anchors()
        return self.own_anchors()

    @property
    def heading(self) -> str:
        """The text of the first heading."""
        return next((heading.title for heading in headings(self.text)), self.name)

    @property
    def title(self) -> str:
        """The first heading, after the number of the chapter if it has one."""
        number = contents.chapter_number(self.name)
        return f"{number}. {self.heading}" if number else self.heading

    def error(self, position: int, message: str) -> SourceError:
        """An error at a character position of the page's text."""
        line = line_number(self.text, position)
        if self.is_notebook:
            _, line = self.notebook_lines()[line - 1]
        return SourceError(self.path, line, message)

    def digest(self) -> str:
        """A short hash of the source; the translation records it once reviewed."""
        return fresh.hash_bytes(self.path.read_bytes())[:12]


def list_pages(language: str) -> list[SourcePage]:
    """All pages of a language, by name."""
    folder = paths.DOCS / language
    files = [*folder.rglob("*.md"), *folder.glob("labs/*.ipynb")]
    names = {path.relative_to(folder).with_suffix(".md").as_posix() for path in files}
    return [SourcePage(language, name) for name in sorted(names)]


def find_page(text: str, language: str) -> SourcePage:
    """The page with the title of this text, for a builder that names none; else the home page."""
    title = next((heading.title for heading in headings(text)), "")
    pages = (page for page in list_pages(language) if page.heading == title)
    return next(pages, SourcePage(language, "index.md"))


def list_includes(language: str) -> Iterator[Include]:
    """All --8<-- lines of the pages of a language that are below a heading; labs have none."""
    for page in list_pages(language):
        text = "" if page.is_notebook else page.text
        for match in INCLUDE.finditer(text):
            line = line_number(text, match.start())
            if above := [each for each in headings(text) if each.line < line]:
                address = f"{page.name}#{above[-1].anchor}"
                yield Include(match[1], match[2], above[-1].title, address)


def target_errors(path: Path, targets: Iterable[tuple[int, str]]) -> Iterator[SourceError]:
    """Errors for targets, page.md or page.md#anchor, that a language doesn't have.

    Each comes with the line of the file that names it.
    """
    anchors = functools.cache(SourcePage.anchors)
    for line, target in targets:
        name, hash_sign, anchor = target.partition("#")
        for page in (SourcePage(language, name) for language in LANGUAGES):
            if page.path.exists() and hash_sign and anchor not in anchors(page):
                problem = f"{page.display_path} has no anchor #{anchor}"
                yield SourceError(path, line, f"{problem}; correct {target} or the page")
            elif not (page.path.exists() or page.translation.path.exists()):
                problem = f"page {page.display_path} doesn't exist"  # in neither language
                yield SourceError(path, line, f"{problem}; correct {target}")


@functools.lru_cache(maxsize=128)
def outline(text: str) -> str:
    """What other pages and lists show of a page's text: all but its paragraphs."""
    parts = (FRONT_MATTER, HEADING, INCLUDE, FIGURE, FOOTNOTE, FOLDED_ANSWER, WIDGET)
    return repr([pattern.findall(text) for pattern in parts])


@functools.lru_cache(maxsize=128)
def headings(text: str) -> list[Heading]:
    """The headings of a page's text, outside of code blocks."""
    matches = HEADING.finditer(blank_fences(text))
    return [Heading(line_number(text, m.start()), m[2], m[3]) for m in matches]


@functools.lru_cache(maxsize=128)
def blank_fences(text: str) -> str:
    """The text with spaces in place of its front matter and code blocks: same positions."""
    return CODE_FENCE.sub(blank, FRONT_MATTER.sub(blank, text))


@functools.lru_cache(maxsize=128)
def prose(text: str) -> str:
    """The text with spaces in place of inline code too."""
    return INLINE_CODE.sub(blank, blank_fences(text))
