"""Checks that Chinese texts use the terms of docs/glossary.yml.

Two checks: no text uses a word that the glossary forbids (the key not), and each 中文（English）
of a page is a term of the glossary, in both languages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bookbuild.check import translation
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.glossary import load_glossary
from bookbuild.pages.page import SourcePage, list_pages

# English names in parentheses that are not terms of the book, and why.
OTHER_NAMES = {
    "BLEU": "follows a score",
    "PE": "the paper's abbreviation of positional encoding",
    "detach": "a method of PyTorch",
    "test": "the short name of a split; the term is test set",
    "training": "the short name of a split; the term is training set",
    "validation": "the short name of a split; the term is validation set",
}
# Files with Chinese text for readers, in addition to the pages.
FILE_PATTERNS = (
    ".github/ISSUE_TEMPLATE/*.yml",
    "docs/changes.yml",
    "docs/quizzes/*.yml",
    "mkdocs.zh.yml",
    "overrides/**/*.html",
    "overrides/**/*.js",
    "scripts/bookbuild/**/*.py",
    "scripts/figures/*.py",
    "scripts/proofs/*.py",
)
EXCLUDED_FILES = ("scripts/bookbuild/check/terminology.py",)
# 中文（English）, with the Chinese possibly in bold.
INTRODUCED_TERM = re.compile(
    r"(?P<chinese>[\w*–-]*[\u4e00-\u9fff]\**)（(?P<english>[A-Za-z][^（）\u4e00-\u9fff]*)）"
)


class ChineseText(NamedTuple):
    """A text for readers, and the file or page that contains it."""

    text: str
    path: Path
    page: SourcePage | None = None

    def error(self, position: int, message: str) -> SourceError:
        """An error at a character position of the text."""
        if self.page:
            return self.page.error(position, message)
        return SourceError(self.path, line_number(self.text, position), message)


def chinese_texts() -> Iterator[ChineseText]:
    """All Chinese texts: pages, labs, quizzes, glossary, and labels of figures and widgets."""
    for page in list_pages("zh"):
        yield ChineseText(page.text, page.path, page)
    files = {path for pattern in FILE_PATTERNS for path in paths.ROOT.glob(pattern)}
    for path in sorted(files):
        if path.relative_to(paths.ROOT).as_posix() not in EXCLUDED_FILES:
            yield ChineseText(path.read_text(encoding="utf-8"), path)
    path = paths.DOCS / "glossary.yml"
    yield ChineseText(glossary_without_forbidden_words(path), path)


def glossary_without_forbidden_words(path: Path) -> str:
    """The glossary with spaces in place of the lists of forbidden words."""
    return re.sub(r"^  not: .*$", translation.blank, path.read_text(encoding="utf-8"), flags=re.M)


def chinese_forms(term: Mapping) -> list[str]:
    """All accepted Chinese names of a term."""
    return [term["zh"], *term.get("zh_also", [])]


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches any of the words, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def forbidden_words(terms: Iterable[Mapping], text: ChineseText) -> Iterator[SourceError]:
    """Words that the glossary forbids, except as part of an accepted term."""
    term_of = {word: term for term in terms for word in term.get("not", [])}
    accepted = any_of(word for term in terms for word in chinese_forms(term))
    spans = [match.span() for match in accepted.finditer(text.text)]
    for match in any_of(term_of).finditer(text.text):
        if not any(start <= match.start() and match.end() <= end for start, end in spans):
            term = term_of[match[0]]
            message = f"forbidden word {match[0]}; use {term['zh']} ({term['en']})"
            yield text.error(match.start(), message)


def unknown_terms(terms: Iterable[Mapping], text: ChineseText) -> Iterator[SourceError]:
    """Terms introduced as 中文（English） that are not in the glossary, or differ from it."""
    known = {form.lower(): term for term in terms for form in (term["en"], *term.get("also", []))}
    # A parenthesis in a footnote is part of a citation.
    prose = re.sub(
        r"^\[\^.*$", translation.blank, translation.parse_text(text.text).prose, flags=re.M
    )
    for match in INTRODUCED_TERM.finditer(prose):
        chinese = match["chinese"].replace("*", "").removesuffix("的")
        for english in re.split("[，、]", match["english"]):
            term = known.get(english.strip().lower())
            if english.strip() in OTHER_NAMES:
                continue
            if term is None:
                message = (
                    f"{chinese}（{english}） is not a term; add {english} to docs/glossary.yml"
                )
                yield text.error(match.start(), message)
            elif not chinese.endswith(tuple(chinese_forms(term))):
                forms = " or ".join(chinese_forms(term))
                message = f"{chinese}（{english}） differs from the glossary; use {forms}"
                yield text.error(match.start(), message)


def terminology_errors() -> Iterator[SourceError]:
    """Forbidden words in all Chinese texts, and unknown terms on the pages."""
    terms = load_glossary()
    for text in chinese_texts():
        yield from forbidden_words(terms, text)
        if text.page:
            yield from unknown_terms(terms, text)
