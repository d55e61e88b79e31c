"""What several tests share."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import html_tree
from bookbuild.check import translation
from bookbuild.pages import paths
from bookbuild.pages.page import INCLUDE, SourcePage

ROOT = Path(__file__).resolve().parent.parent


def assert_no_errors(errors: Iterable[object]) -> None:
    """Fail with all of the errors, one a line, and nothing else."""
    messages = [*map(str, errors)]
    if messages:
        pytest.fail("\n".join(messages), pytrace=False)


class Built(NamedTuple):
    """A page of the built site."""

    path: Path
    url: str  # from the site's root: zh/embeddings/
    source: SourcePage
    tree: html_tree.Element

    def __str__(self) -> str:
        return f"/{self.url}"

    @property
    def article(self) -> html_tree.Element:
        return self.tree.find("article")[0]


def load_page(site: Path, source: SourcePage) -> Built:
    """A page of the built site, parsed."""
    stem = source.name.removesuffix(".md").removesuffix("index")
    url = ("zh/" if source.language == "zh" else "") + (f"{stem}/" if stem else "")
    path = site / url / "index.html"
    return Built(path, url, source, html_tree.parse(path.read_text(encoding="utf-8")))


def with_quiz(page: SourcePage) -> str:
    """A page's text as the reader has it: its quiz, whose source is another file, included."""

    def included(match: re.Match[str]) -> str:
        if not match[1].startswith("quizzes/"):
            return match[0]
        return (paths.GENERATED / page.language / match[1]).read_text(encoding="utf-8")

    return INCLUDE.sub(included, page.text)


class Block(NamedTuple):
    """A block of code as a reader sees and copies it."""

    page: str
    number: int
    title: str
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page} block {self.number} ({self.title or 'untitled'})"


def without_notes(code: str) -> str:
    """Code without the marks of its notes."""
    code = re.sub(r" *# \(\d+\)!$", "", code, flags=re.M)
    return re.sub(r"( # .*) \(\d+\)$", r"\1", code, flags=re.M).rstrip()


def blocks_of(page: Built) -> Iterator[Block]:
    for number, block in enumerate(page.article.find("div", "highlight"), 1):
        title = "".join(span.text() for span in block.find("span", "filename"))
        language = next(each for each in block.classes if each.startswith("language-"))
        yield Block(
            str(page),
            number,
            translation.TITLES.get(title, title),
            language.removeprefix("language-"),
            without_notes(block.find("code")[0].text()),
        )
