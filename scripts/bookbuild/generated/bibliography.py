"""The references in docs/references.bib and the footnotes that cite them.

A footnote cites a reference by its key, `[^name]: @vaswani2017attention, section 3.2.`. The build
replaces the key with authors, title, year and link; the page Sources lists all references.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pybtex.database import parse_string
from pybtex.exceptions import PybtexError
from pybtex.richtext import Text

from bookbuild.pages import contents, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.page import CITATION, FOOTNOTE, SourcePage, blank_fences, list_pages
from bookbuild.pages.paths import LANGUAGES

ENTRY_START = re.compile(r"^@\w+\{([^,\s]+),", re.M)
ARXIV_NUMBER = re.compile(r"ar[Xx]iv(?::|\.org/abs/)\d{4}\.\d{4,5}")
NAME_PARTS = ("first", "middle", "prelast", "last", "lineage")
MAX_AUTHORS = 3  # longer lists are shortened to the first author
PUBLICATION_DELAY = 2  # years between a number on arXiv and the paper in print
WORDS = {
    "en": {"comma": ", ", "list": ", ", "and": " and ", "others": " et al.", "in": ". In {}."},
    "zh": {"comma": "，", "list": "、", "and": "、", "others": " 等", "in": "。见{}。"},
}


class Reference(NamedTuple):
    """An entry of docs/references.bib."""

    key: str
    type: str
    fields: dict[str, str]
    authors: list[str]  # FIRST LAST; the last may be "others"
    surname: str  # of the first author
    line: int

    @property
    def is_software(self) -> bool:
        return self.type in ("manual", "software")

    @property
    def link(self) -> tuple[str, str]:
        """Label and address: arXiv:1706.03762, https://arxiv.org/abs/1706.03762."""
        if eprint := self.fields.get("eprint"):
            return f"arXiv:{eprint}", f"https://arxiv.org/abs/{eprint}"
        if doi := self.fields.get("doi"):
            return f"doi:{doi}", f"https://doi.org/{doi}"
        url = self.fields.get("url", "")
        issue = re.search(r"/issues/(\d+)$", url)
        return f"issue {issue[1]}" if issue else urlsplit(url).netloc, url

    def error(self, message: str) -> SourceError:
        return SourceError(bib_file(), self.line, f"{self.key} {message}")


class Citation(NamedTuple):
    """A footnote of a page and the keys that it cites."""

    page: SourcePage
    footnote: str
    position: int
    text: str
    keys: list[str]


def bib_file() -> Path:
    return paths.DOCS / "references.bib"


def load_references() -> dict[str, Reference]:
    """All references by key. Raises SourceError for invalid BibTeX."""
    return parse_references(bib_file().read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=1)
def parse_references(text: str) -> dict[str, Reference]:
    lines = {match[1]: line_number(text, match.start()) for match in ENTRY_START.finditer(text)}
    try:
        entries: Any = parse_string(text, "bibtex").entries
    except PybtexError as error:
        message = str(error)
        # A message without a line has the key of a repeated entry or field, or quotes an author.
        places = [lines[word] for word in message.split() if word in lines]
        places += [line_number(text, text.find(each)) for each in re.findall("'(.+)'", message)]
        line = getattr(error, "lineno", None) or next(iter(places), 1)
        reason = re.sub(r"^syntax error in line \d+: ", "", message)
        raise SourceError(bib_file(), line, f"invalid BibTeX: {reason}; correct it") from None
    references = {}
    for key, entry in entries.items():
        people = entry.persons.get("author", [])
        names = [
            strip_latex(*(word for part in NAME_PARTS for word in each.get_part(part)))
            for each in people
        ]
        surname = strip_latex(*people[0].last_names) if people else ""
        line = lines.get(key, 1)
        references[key] = Reference(key, entry.type, entry.fields, names, surname, line)
    return references


# Formatting


@functools.cache
def strip_latex(*latex: str) -> str:
    r"""Text without LaTeX markup: M{\"u}ller becomes Müller."""
    return str(Text.from_latex(" ".join(latex)))


def format_authors(reference: Reference, language: str) -> str:
    """All names of up to three authors; of a longer list only the first."""
    words, names = WORDS[language], reference.authors
    if override := reference.fields.get(f"author_{language}"):
        return strip_latex(override)
    if len(names) > MAX_AUTHORS or "others" in names:
        return names[0] + words["others"]
    first = [words["list"].join(names[:-1])] if names[1:] else []
    return words["and"].join(first + names[-1:])


def format_reference(reference: Reference, language: str) -> str:
    """AUTHORS, *TITLE*, VENUE, YEAR, [LABEL](URL) in Markdown."""
    fields, (label, url) = reference.fields, reference.link
    title = fields.get("title", "")
    text = strip_latex(title.removeprefix(r"\texttt"))
    if reference.is_software and "year" not in fields:  # a file, or a page of the documentation
        code = "`" if title.startswith(r"\texttt") else ""
        parts = [f"[{code}{text}{code}]({url})"]
    else:
        venue = [fields[name] for name in ("journal", "booktitle", "volume") if name in fields]
        venue += [f"({fields['number']})"] if "number" in fields else []
        parts = [f"*{text}*", strip_latex(*venue), fields.get("year", ""), f"[{label}]({url})"]
    parts = [format_authors(reference, language), *parts]
    return WORDS[language]["comma"].join(part for part in parts if part)


def expand_citations(markdown: str, language: str) -> str:
    """Replace the keys in the footnotes of a page by references."""
    references = load_references()

    def expand(footnote: re.Match[str]) -> str:
        return CITATION.sub(lambda key: format_reference(references[key[1]], language), footnote[0])

    return FOOTNOTE.sub(expand, markdown)


# The page Sources


def find_citations(language: str) -> list[Citation]:
    """All footnotes, in the order of the table of contents."""
    order = {name: place for place, name in enumerate(contents.ordered_pages())}
    return [
        Citation(page, match[1], match.start(), match[2], CITATION.findall(match[2]))
        for page in sorted(list_pages(language), key=lambda page: order.get(page.name, -1))
        for match in FOOTNOTE.finditer(blank_fences(page.text))
    ]


def select_references(*, software: bool) -> list[Reference]:
    """Either software or other works, sorted by the first author's surname and the year."""
    selected = [each for each in load_references().values() if each.is_software == software]
    return sorted(selected, key=lambda r: (r.surname.lower(), r.fields.get("year", ""), r.key))


def list_references(language: str, *, software: bool) -> str:
    """A Markdown list of references, each with links to the footnotes that cite it."""
    links: dict[str, dict[str, str]] = {}
    for citation in find_citations(language):
        name, title = citation.page.name, citation.page.title
        for key in citation.keys:
            link = f"[{title}]({name}#fn:{citation.footnote})"
            links.setdefault(key, {}).setdefault(name, link)
    lines = []
    for reference in select_references(software=software):
        pages = WORDS[language]["list"].join(links.get(reference.key, {}).values())
        cited_in = WORDS[language]["in"].format(pages)
        lines.append(f"- {format_reference(reference, language)}{cited_in}\n")
    return "".join(lines)


# Errors


def reference_errors() -> Iterator[SourceError]:
    """Incomplete entries, and footnotes that can't be expanded."""
    references = load_references()
    links: dict[str, str] = {}
    for key, reference in references.items():
        yield from map(reference.error, entry_errors(reference))
        _, url = reference.link
        if url and links.setdefault(url, key) != key:
            yield reference.error(f"has the link of {links[url]}; keep one of the two")
    for language in LANGUAGES:
        for citation in find_citations(language):
            for message in citation_errors(citation, references):
                yield citation.page.error(citation.position, f"[^{citation.footnote}] {message}")


def entry_errors(reference: Reference) -> Iterator[str]:
    """Messages about one incomplete entry."""
    fields, (label, url) = reference.fields, reference.link
    year = fields.get("year", "")
    if not reference.authors:
        yield "has no author; add author = {LAST, FIRST and LAST, FIRST}"
    if not fields.get("title"):
        yield "has no title; add title = {TITLE}"
    if not url:
        yield "has no link; add eprint, doi or url"
    if not year.isdecimal() and (year or reference.type not in ("manual", "online", "software")):
        yield "has no year; add year = {YYYY}, or make it @online"
    if year.isdecimal() and (number := re.match(r"(\d\d)\d\d\.", fields.get("eprint", ""))):
        delay = int(year) - 2000 - int(number[1])
        if not 0 <= delay <= PUBLICATION_DELAY:
            yield f"has year {year}, but {label} is from 20{number[1]}; correct one of the two"


def citation_errors(citation: Citation, references: dict[str, Reference]) -> Iterator[str]:
    """Messages about one invalid footnote."""
    for key in citation.keys:
        if key not in references:
            yield f"cites @{key}, which {bib_file().name} doesn't have; correct the key, or add it"
    if not citation.keys:
        yield f"cites no reference; write @KEY, a key of {bib_file().name}"
    if number := ARXIV_NUMBER.search(citation.text):
        yield f"contains {number[0]}; write @KEY instead, a key of {bib_file().name}"


def unused_references() -> Iterator[SourceError]:
    """References that no footnote cites."""
    cited = {key for citation in find_citations("en") for key in citation.keys}
    for key, reference in load_references().items():
        if key not in cited:
            yield reference.error("is not cited; cite it on a page, or remove it")
