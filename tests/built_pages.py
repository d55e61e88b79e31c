"""Helpers of several tests: the pages of the built site, and their blocks of code."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import html_tree
import page_parts
from bookbuild.pages import paths
from bookbuild.pages.page import INCLUDE, SourcePage

ROOT = Path(__file__).resolve().parent.parent


def assert_no_errors(errors: Iterable[object]) -> None:
    """Fail with all of the errors, one a line, and nothing else."""
    messages = [*map(str, errors)]
    if messages:
        pytest.fail("\n".join(messages), pytrace=False)


class BuiltPage(NamedTuple):
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


def lab_outputs(name: str, language: str = "en") -> list[list[tuple[str, str]]]:
    """What each code cell of a lab shows, as mkdocs-jupyter has rendered it: text or HTML."""
    folder = paths.GENERATED / "zh" if language == "zh" else paths.GENERATED
    cells = json.loads((folder / f"outputs/labs/{name}.json").read_text("utf-8"))
    block = re.compile(
        r'```text title=""\n(?P<text>.*?)\n```\n|<div class="lab-output".*?\n(?P<html>.*)\n</div>',
        re.S,
    )
    outputs = [[match.groupdict() for match in block.finditer(cell)] for cell in cells]
    assert not any(block.sub("", cell).strip() for cell in cells)
    return [
        [(kind, what) for match in cell for kind, what in match.items() if what] for cell in outputs
    ]


def load_page(site: Path, source: SourcePage) -> BuiltPage:
    """A page of the built site, parsed."""
    stem = source.name.removesuffix(".md").removesuffix("index")
    url = ("zh/" if source.language == "zh" else "") + (f"{stem}/" if stem else "")
    path = site / url / "index.html"
    return BuiltPage(path, url, source, html_tree.parse(path.read_text(encoding="utf-8")))


def text_with_quiz(page: SourcePage) -> str:
    """The Markdown of a page, with its quiz or tables, which are in other files."""

    def include_quiz(match: re.Match[str]) -> str:
        if not match[1].startswith(("quizzes/", "by-hand/")):
            return match[0]
        text = (paths.GENERATED / page.language / match[1]).read_text(encoding="utf-8")
        return re.sub(r"\\\((.*?)\\\)", r"$\1$", text)  # formulas in HTML

    return INCLUDE.sub(include_quiz, page.text)


class CodeBlock(NamedTuple):
    """A block of code as a reader sees and copies it."""

    page: str
    number: int
    title: str
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.page} block {self.number} ({self.title or 'untitled'})"


def page_code_blocks(page: BuiltPage) -> Iterator[CodeBlock]:
    for number, block in enumerate(page.article.find("div", "highlight"), 1):
        title = "".join(span.text() for span in block.find("span", "filename"))
        language = next(each for each in block.classes if each.startswith("language-"))
        yield CodeBlock(
            str(page),
            number,
            page_parts.ENGLISH_BLOCK_TITLES.get(title, title),
            language.removeprefix("language-"),
            block.find("code")[0].text().rstrip(),
        )
