"""What the book cites, read from the footnotes of its pages: one entry for each work.

A footnote cites works as AUTHORS, *TITLE*, YEAR, what is meant in it, [ADDRESS](…); after a
semicolon another may follow, and what leads to one ends with a colon. Without a title it names
software or its documentation, up to the first comma, and a link or a file: `layers/modalities.py`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import SourcePage, blank_fences, list_pages
from bookbuild.pages.paths import LANGUAGES

FOOTNOTE = re.compile(r"^\[\^([^\]]+)\]: *(.*(?:\n(?: {4}.*|(?=\n {4})))*)", re.M)
TITLE = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
FILE = re.compile(r"`([\w./-]*(?:/[\w.-]+|\w\.py))`")
YEAR = re.compile(
    r"(?: ?[(（][^)）]*[)）])?[,，] ?(?P<venue>[^\[*;；]*?)[,，]? ?\b(?P<year>(?:19|20)\d\d)\b"
)
ARXIV = re.compile(r"ar[Xx]iv(?::|\.org/abs/)(\d{4}\.\d{4,5})")
LEADS = re.compile(r".*(?:[;:] |[；：])", re.S)  # to the last mark before the authors
AGAIN = re.compile(r"The same\b|同上")
AFTER = 2  # years that a paper may appear in print after its number on arXiv
WORDS = {"en": {"in": "In {}.", "and": ", "}, "zh": {"in": "见{}。", "and": "、"}}


class Work(NamedTuple):
    """A paper or another text with a title."""

    authors: str
    title: str
    venue: str
    year: str
    label: str  # of its address: arXiv:1706.03762
    url: str

    @property
    def key(self) -> str:
        """What tells it from all others: its address, or its title if it has none."""
        return self.url or self.title.lower()


class Software(NamedTuple):
    """A program or its documentation, and the places in it, as Markdown."""

    name: str
    places: list[str]


class Note(NamedTuple):
    """A footnote of a page and all that it cites."""

    page: SourcePage
    name: str
    position: int
    works: list[Work]
    software: Software | None


def cited(text: str) -> list[Work]:
    """The works of a footnote."""
    found, start = [], 0
    titles = [*TITLE.finditer(text)]
    for index, title in enumerate(titles):
        end = titles[index + 1].start() if index + 1 < len(titles) else len(text)
        before, after = text[start : title.start()], text[title.end() : end]
        year = YEAR.match(after)
        before = LEADS.sub("", before, count=1)
        link = LINK.search(before) or LINK.search(after)
        authors = LINK.sub("", before).strip(" ,，")
        venue, when = (year["venue"].strip(), year["year"]) if year else ("", "")
        label, url = link.groups() if link else ("", "")
        found.append(Work(authors, title[1], venue, when, label, url))
        start = title.end() + (link.end() if link and link.string is after else 0)
    return found


def software(text: str) -> Software | None:
    """What a footnote without a title names."""
    name = re.match(r"[^,，:：`\[]+(?=[,，:：])", text)
    places = [f"[{label}]({url})" for label, url in LINK.findall(text)]
    linked = " ".join(places)
    places += [f"`{file}`" for file in FILE.findall(text) if f"`{file}`" not in linked]
    return Software(name[0].strip(), places) if name and places else None


def notes(language: str) -> list[Note]:
    """All footnotes, in the order of the table of contents."""
    found: list[Note] = []
    nav = (paths.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in sorted(list_pages(language), key=lambda page: nav.find(page.name)):
        text, mine = page.text, []
        for match in FOOTNOTE.finditer(blank_fences(text)):
            says = match[2]
            works = cited(says)
            named = None if works else software(says)
            if AGAIN.match(says) and mine:
                works, named = mine[-1].works, mine[-1].software
            mine.append(Note(page, match[1], match.start(), works, named))
        found += mine
    return found


def footnote_errors() -> Iterator[SourceError]:
    """Footnotes that can't be read, and those that contradict each other."""
    both = {language: notes(language) for language in LANGUAGES}
    for language in LANGUAGES:
        known: dict[str, tuple[Work, Note]] = {}
        titles: dict[str, tuple[Work, Note]] = {}
        for note in both[language]:
            yield from (note.page.error(note.position, what) for what in unread(note))
            for work in note.works:
                for by, key in ((known, work.key), (titles, work.title.lower())):
                    before, where = by.setdefault(key, (work, note))
                    if before != work:
                        there = f"{where.page.display_path} [^{where.name}]"
                        what = f"[^{note.name}] cites as {tell(work)} what {there} cites as"
                        yield note.page.error(note.position, f"{what} {tell(before)}")
                        break
    english = {(note.page.name, note.name): note for note in both["en"]}
    for note in both["zh"]:
        twin = english.get((note.page.name, note.name))
        keys = [work.key for work in note.works]
        if twin and keys != [work.key for work in twin.works]:
            yield note.page.error(note.position, f"[^{note.name}] cites other works than its twin")


def tell(work: Work) -> str:
    return ", ".join(filter(None, work))


def unread(note: Note) -> Iterator[str]:
    """What is wrong with one footnote."""
    text = note.page.text[note.position :].partition("\n")[0]
    linked = " ".join(work.url for work in note.works)
    for number in dict.fromkeys(ARXIV.findall(text)):
        if number not in linked:
            how = f"AUTHORS, *TITLE*, YEAR, [arXiv:{number}](…)"
            yield f"[^{note.name}]: {number} belongs to no title; write {how}"
    if not note.works and not note.software:
        yield (
            f"[^{note.name}] cites neither a work, AUTHORS, *TITLE*, YEAR, "
            "nor software, NAME, [link](…) or `file.py`"
        )
    for work in note.works:
        if not work.authors:
            yield f"[^{note.name}] names no authors of *{work.title}*"
        if not work.year and not work.url:
            yield f"[^{note.name}] gives neither year nor address of *{work.title}*"
        number = ARXIV.search(work.url)
        if number and work.year:
            first = 2000 + int(number[1][:2])
            if not first <= int(work.year) <= first + AFTER:
                yield f"[^{note.name}]: {work.label} is of {first}, not of {work.year}"


def is_software(work: Work) -> bool:
    """An issue of a program is told with the program."""
    return "github.com" in work.url


def surname(authors: str) -> str:
    """Of the first author, to sort by."""
    first = re.split(r" et al\.| and |,", re.sub(r" *\(.*?\)", "", authors))[0]
    return first.split()[-1].lower()


def places(found: list[Note], language: str) -> str:
    """In which pages, each with a link to its footnote."""
    links = {}
    for note in found:
        links.setdefault(note.page.name, f"[{note.page.title}]({note.page.name}#fn:{note.name})")
    words = WORDS[language]
    return words["in"].format(words["and"].join(links.values()))


def works(language: str) -> dict[str, tuple[Work, list[Note]]]:
    """Each work once, by the surname of its first author, with the footnotes that cite it."""
    found: dict[str, tuple[Work, list[Note]]] = {}
    for note in notes(language):
        for work in note.works:
            if not is_software(work):
                found.setdefault(work.key, (work, []))[1].append(note)
    english = {w.key: w for note in notes("en") for w in note.works}
    told = {key: english.get(key, work) for key, (work, _) in found.items()}
    order = sorted(found, key=lambda key: (surname(told[key].authors), told[key].year, key))
    return {key: found[key] for key in order}


def works_list(language: str) -> str:
    """The papers, one a line, in Markdown."""
    comma, stop = (", ", ". ") if language == "en" else ("，", "。")
    lines = []
    for work, found in works(language).values():
        address = f"[{work.label}]({work.url})" if work.url else ""
        parts = (work.authors, f"*{work.title}*", work.venue, work.year, address)
        lines.append(f"- {comma.join(filter(None, parts))}{stop}{places(found, language)}\n")
    return "".join(lines)


def software_list(language: str) -> str:
    """Programs and their documentation, with the places in them, in Markdown."""
    found: dict[str, tuple[list[str], list[Note]]] = {}
    for note in notes(language):
        named = [note.software] if note.software else []
        for work in note.works:
            if is_software(work):
                told = f"[{work.label}]({work.url}), *{work.title}*, {work.year}"
                named.append(Software(work.authors, [told]))
        for each in named:
            listed, where = found.setdefault(each.name, ([], []))
            listed += [place for place in each.places if place not in listed]
            where.append(note)
    comma, colon, stop = ("; ", ": ", ". ") if language == "en" else ("；", "：", "。")
    return "".join(
        f"- {name}{colon}{comma.join(listed)}{stop}{places(where, language)}\n"
        for name, (listed, where) in sorted(found.items(), key=lambda item: item[0].lower())
    )
