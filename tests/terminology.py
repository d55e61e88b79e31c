"""Checks that Chinese texts use the terms of docs/glossary.yml.

Two checks: no text uses a word that the glossary forbids (the key not), and each 中文（English）
of a page is a term of the glossary, in both languages.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import blank, line_number
from bookbuild.pages.glossary import load_glossary
from bookbuild.pages.page import prose

# English names in parentheses that are not terms of the book, and why.
OTHER_NAMES = {
    "BLEU": "follows a score",
    "PE": "the paper's abbreviation of positional encoding",
    "detach": "a method of PyTorch",
    "test": "the short name of a split; the term is test set",
    "training": "the short name of a split; the term is training set",
    "validation": "the short name of a split; the term is validation set",
}
# Files with Chinese text for readers.
FILE_PATTERNS = (
    ".github/ISSUE_TEMPLATE/*.yml",
    "docs/*.yml",
    "docs/quizzes/*.yml",
    "docs/step-through/*.yml",
    "docs/zh/**/*.ipynb",
    "docs/zh/**/*.md",
    "mkdocs.zh.yml",
    "overrides/**/*.html",
    "overrides/**/*.js",
    "overrides/llms.txt",
    "scripts/benchmarks/*.py",
    "scripts/bookbuild/**/*.py",
    "scripts/bookbuild/templates/*",
    "scripts/evidence/*.py",
    "scripts/figures/*.py",
    "scripts/proofs/*.py",
    "snippets/zh/*.po",
)
# 中文（English）, with the Chinese possibly in bold.
INTRODUCED_TERM = re.compile(
    r"(?P<chinese>[\w*–-]*[\u4e00-\u9fff]\**)（(?P<english>[A-Za-z][^（）\u4e00-\u9fff]*)）"
)


def chinese_files() -> list[Path]:
    """Pages, labs, quizzes, glossary, and sources of the labels of figures and widgets."""
    return sorted({path for pattern in FILE_PATTERNS for path in paths.ROOT.glob(pattern)})


def chinese_text(path: Path) -> str:
    """The text of a file; in the glossary, spaces replace the lists of forbidden words."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^  not: .*$", blank, text, flags=re.M) if path.parent == paths.DOCS else text


def chinese_forms(term: Mapping) -> list[str]:
    """All accepted Chinese names of a term."""
    return [term["zh"], *term.get("zh_also", [])]


def any_word_pattern(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches any of the words, the longest first."""
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def forbidden_words(terms: Iterable[Mapping], path: Path, text: str) -> Iterator[SourceError]:
    """Words that the glossary forbids, except as part of an accepted term."""
    term_of = {word: term for term in terms for word in term.get("not", [])}
    accepted = any_word_pattern(word for term in terms for word in chinese_forms(term))
    spans = [match.span() for match in accepted.finditer(text)]
    for match in any_word_pattern(term_of).finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in spans):
            term = term_of[match[0]]
            message = f"forbidden word {match[0]}; use {term['zh']} ({term['en']})"
            yield SourceError(path, line_number(text, match.start()), message)


def unknown_terms(terms: Iterable[Mapping], path: Path, text: str) -> Iterator[SourceError]:
    """Terms introduced as 中文（English） that are not in the glossary, or differ from it."""
    known = {form.lower(): term for term in terms for form in (term["en"], *term.get("also", []))}
    # A parenthesis in a footnote is part of a citation.
    plain = re.sub(r"^\[\^.*$", blank, prose(text), flags=re.M)
    for match in INTRODUCED_TERM.finditer(plain):
        chinese = match["chinese"].replace("*", "").removesuffix("的")
        for english in re.split("[，、]", match["english"]):
            term = known.get(english.strip().lower())
            if english.strip() in OTHER_NAMES:
                continue
            if term is None:
                message = (
                    f"{chinese}（{english}） is not a term; add {english} to docs/glossary.yml"
                )
                yield SourceError(path, line_number(text, match.start()), message)
            elif not chinese.endswith(tuple(chinese_forms(term))):
                forms = " or ".join(chinese_forms(term))
                message = f"{chinese}（{english}） differs from the glossary; use {forms}"
                yield SourceError(path, line_number(text, match.start()), message)


def terminology_errors() -> Iterator[SourceError]:
    """Forbidden words in all Chinese texts, and unknown terms on the pages."""
    terms = load_glossary()
    for path in chinese_files():
        text = chinese_text(path)
        yield from forbidden_words(terms, path, text)
        if path.is_relative_to(paths.DOCS / "zh"):
            yield from unknown_terms(terms, path, text)
