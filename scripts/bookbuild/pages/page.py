"""A page of the book: one source file in one language, read as text."""

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages import notebooks, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number, parse_yaml
from bookbuild.pages.paths import LANGUAGES


def page_url(name: str) -> str:
    """The page's address, from that of its language: attention/ for attention.md."""
    stem = name.removesuffix(".md").removesuffix("index")
    return f"{stem}/" if stem else ""


INCLUDE = re.compile(r'^ *--8<-- "([^":]+)(?::(\w+))?"$', re.M)
VALUE = re.compile(r"\{\{ (.*?) \}\}")
FIGURE = re.compile(r"!\[([^\]]*)\]\((figures/[^)]+\.svg)\)")
FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2$", re.M | re.S)
FOOTNOTE = re.compile(r"^\[\^([^\]]+)\]: *(.*(?:\n(?: {4}.*|(?=\n {4})))*)", re.M)
CITATION = re.compile(r"(?<![\w`])@([a-zA-Z][\w-]*\w)", re.A)  # in a footnote: @KEY
HEADING = re.compile(r"^#{1,6} +(.*?) *(?:\{ *#([\w-]+)[^}\n]*\})? *$", re.M)
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
PENDING = "pending"  # front matter `translation`, of a page that is behind its translation


class Include(NamedTuple):
    """A line --8<-- "file:section" of a page."""

    line: int
    file: str
    section: str | None


class Heading(NamedTuple):
    """A heading of a page, in Markdown, and its anchor; the title has none."""

    line: int
    title: str
    anchor: str | None


@dataclass(frozen=True)
class SourcePage:
    """One page in one language."""

    language: str
    name: str  # embeddings.md; labs/look-inside.md, though its file is a notebook

    @property
    def path(self) -> Path:
        path = paths.DOCS / self.language / self.name
        notebook = path.with_suffix(".ipynb")
        return notebook if notebook.exists() else path

    @property
    def display_path(self) -> str:
        """As a person knows it: docs/en/embeddings.md."""
        suffix = self.path.suffix if self.path.exists() else self.translation.path.suffix
        return f"docs/{self.language}/{self.name.removesuffix('.md')}{suffix}"

    @property
    def translation(self) -> "SourcePage":
        other = LANGUAGES[1 - LANGUAGES.index(self.language)]
        return SourcePage(other, self.name)

    @property
    def is_notebook(self) -> bool:
        return self.path.suffix == ".ipynb"

    @property
    def text(self) -> str:
        if self.is_notebook:
            return "".join(f"{text}\n" for text, _ in self.notebook_lines())
        return self.path.read_text(encoding="utf-8")

    def notebook_lines(self) -> list[tuple[str, int]]:
        """A lab's Markdown, each line with the line of the notebook that it is from."""
        shown = paths.GENERATED / "outputs" / f"{self.name.removesuffix('.md')}.json"
        outputs = json.loads(shown.read_text(encoding="utf-8")) if shown.exists() else []
        return [*notebooks.page_lines(self.path, self.language, outputs)]

    @property
    def meta(self) -> dict:
        match = FRONT_MATTER.match(self.text)
        found = parse_yaml(self.path, match[1], 2) if match else {}
        if not isinstance(found, dict):
            raise SourceError(
                self.path, 2, "the front matter is no mapping; write description: TEXT"
            )
        return found

    @property
    def is_pending(self) -> bool:
        """Whether it is marked as behind its translation (scripts/translated --pending)."""
        match = self.path.exists() and FRONT_MATTER.match(self.text)
        return bool(match and re.search(rf'^translation: "?{PENDING}"?$', match[1], re.M))

    def own_anchors(self) -> set[str]:
        """The anchors of its headings."""
        return {heading.anchor for heading in headings(self) if heading.anchor}

    def anchors(self) -> set[str]:
        """The anchors of its headings; of a pending page also those of its translation, which
        the build adds below its title."""
        if self.is_pending and self.translation.path.exists():
            return self.own_anchors() | self.translation.own_anchors()
        return self.own_anchors()

    @property
    def title(self) -> str:
        """As its first heading tells it."""
        return next((each.title for each in headings(self)), self.name)

    def error(self, position: int, what: str) -> SourceError:
        line = line_number(self.text, position)
        if self.is_notebook:
            _, line = self.notebook_lines()[line - 1]
        return SourceError(self.path, line, what)

    def includes(self) -> list[Include]:
        text = self.text
        return [
            Include(line_number(text, match.start()), match[1], match[2])
            for match in INCLUDE.finditer(text)
        ]

    def digest(self) -> str:
        """What a twin is stamped with."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]


def list_pages(language: str) -> list[SourcePage]:
    folder = paths.DOCS / language
    files = (path for suffix in ("md", "ipynb") for path in folder.rglob(f"*.{suffix}"))
    names = {path.relative_to(folder).with_suffix(".md").as_posix() for path in files}
    return [SourcePage(language, name) for name in sorted(names)]


def headings(page: SourcePage) -> list[Heading]:
    return headings_in(page.text)


@functools.lru_cache(maxsize=128)
def headings_in(text: str) -> list[Heading]:
    text = blank_fences(text)
    return [Heading(line_number(text, m.start()), m[1], m[2]) for m in HEADING.finditer(text)]


@functools.lru_cache(maxsize=128)
def blank_fences(text: str) -> str:
    """The text with its code blocks blanked, every character in its place."""
    return FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
