"""Is every Chinese term the one of docs/glossary.yml, wherever a reader meets it?

Two questions: is a word used that the glossary rules out (its lists named not), and does each
中文（English） of a page name a term of the glossary, in both languages?
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bookbuild.check import translation
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.glossary import load_glossary
from bookbuild.pages.page import SourcePage, list_pages

# Names in brackets behind a Chinese word that are no terms of the book, and why.
OTHER_NAMES = {
    "BLEU": "stands behind a number of points",
    "PE": "the paper's letters for the positional encoding",
    "detach": "a method of PyTorch",
    "test": "the short name of a part of the data; the term is test set",
    "training": "likewise; the term is training set",
    "validation": "likewise; the term is validation set",
}
# Files with Chinese for readers, besides the pages.
PATTERNS = (
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
# 中文（English）, the Chinese perhaps in bold.
INTRODUCED = re.compile(
    r"(?P<chinese>[\w*–-]*[\u4e00-\u9fff]\**)（(?P<english>[A-Za-z][^（）\u4e00-\u9fff]*)）"
)


class Text(NamedTuple):
    """What a reader may meet, with its place: fault(position, what)."""

    text: str
    path: Path
    page: SourcePage | None = None

    def error(self, position: int, what: str) -> SourceError:
        if self.page:
            return self.page.error(position, what)
        return SourceError(self.path, line_number(self.text, position), what)


def chinese_texts() -> Iterator[Text]:
    """Everything Chinese: the pages, the labs, and the words of figures, widgets and quizzes."""
    for page in list_pages("zh"):
        yield Text(page.text, page.path, page)
    for path in sorted({each for pattern in PATTERNS for each in paths.ROOT.glob(pattern)}):
        if path.relative_to(paths.ROOT).as_posix() not in EXCLUDED_FILES:
            yield Text(path.read_text(encoding="utf-8"), path)
    path = paths.DOCS / "glossary.yml"
    yield Text(glossary_without_forbidden_words(path), path)


def glossary_without_forbidden_words(path: Path) -> str:
    """The glossary with the ruled-out words blanked, every character in its place."""
    return re.sub(r"^  not: .*$", translation.blank, path.read_text(encoding="utf-8"), flags=re.M)


def chinese_forms(entry: dict) -> list[str]:
    """How the book says a term in Chinese."""
    return [entry["zh"], *entry.get("zh_also", [])]


def any_of(found: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True))) or r"(?!)")


def forbidden_words(terms: list[dict], text: Text) -> Iterator[SourceError]:
    """Words that the glossary rules out, where they aren't a part of a term."""
    right = {rival: entry for entry in terms for rival in entry.get("not", [])}
    own = any_of(word for entry in terms for word in chinese_forms(entry))
    kept = [(m.start(), m.end()) for m in own.finditer(text.text)]
    for match in any_of(right).finditer(text.text):
        if not any(start <= match.start() and match.end() <= end for start, end in kept):
            entry = right[match[0]]
            what = f"{match[0]}: the book says {entry['zh']} ({entry['en']})"
            yield text.error(match.start(), what)


def unknown_terms(terms: list[dict], text: Text) -> Iterator[SourceError]:
    """Terms brought in as 中文（English） that the glossary doesn't have, or has otherwise."""
    known = {form.lower(): e for e in terms for form in (e["en"], *e.get("also", []))}
    prose = re.sub(
        r"^\[\^.*$", translation.blank, translation.parse_text(text.text).prose, flags=re.M
    )
    for match in INTRODUCED.finditer(prose):  # what stands in brackets in a source is no term
        chinese = match["chinese"].replace("*", "").removesuffix("的")
        for english in re.split("[，、]", match["english"]):
            entry = known.get(english.strip().lower())
            if english.strip() in OTHER_NAMES:
                continue
            if entry is None:
                what = (
                    f"{chinese}（{english}） is brought in here: add {english} to docs/glossary.yml"
                )
                yield text.error(match.start(), what)
            elif not chinese.endswith(tuple(chinese_forms(entry))):
                what = (
                    f"{chinese}（{english}）: the glossary says {' or '.join(chinese_forms(entry))}"
                )
                yield text.error(match.start(), what)


def terminology_errors() -> Iterator[SourceError]:
    terms = load_glossary()
    for text in chinese_texts():
        yield from forbidden_words(terms, text)
        if text.page:
            yield from unknown_terms(terms, text)
