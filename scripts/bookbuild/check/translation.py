"""Compare the structure of a page in English with that of its Chinese translation.

Everything except the words is compared: headings, includes, figures, formulas,
links and so on, in their order. Word order differs between the languages, so
the order of the parts inside one paragraph is ignored. Pages that are marked as
behind their translation (scripts/translated --pending) are not compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from bookbuild.pages import notebooks
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.page import (
    CITATION,
    FENCE,
    FIGURE,
    FOOTNOTE,
    FRONT_MATTER,
    INCLUDE,
    VALUE,
    blank_fences,
    list_pages,
)
from bookbuild.pages.paths import LANGUAGES

CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE = re.compile(r"(?<![\\$])\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$")
HEADING = re.compile(r"^(#{1,6}) [^\n]*?(?:\{ *(#[\w-]+)[^}\n]*\})? *$", re.M)
OPENING = re.compile(r"^ *(`{3,}|~{3,})([^\n`]*)$", re.M)
BLOCK = re.compile(r"^ *(!!!|\?\?\?\+?|===|///) *([\w-]*)", re.M)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
REFERENCE = re.compile(r"\[\^([^\]]+)\](?!:)")
NOTE = re.compile(r"^ *\d+\.\s+`([^`]+)`", re.M)
TABLE_ROW = re.compile(r"^ *\|", re.M)
EXERCISE = re.compile(r"^\*\*(?:Exercise|练习) (\d+)", re.M)
ANSWER = re.compile(r'^\?\?\? success "(?:Answer|答案) (\d+)', re.M)
LABEL = re.compile(
    r"^\*\*(?:Exercise|练习) \d+\*\*(?: \(|（)(.+?)(?:, |，)(\d+) (?:minutes?|分钟)(?:\)\. |）。)",
    re.M,
)
EXERCISE_KINDS = {
    "动手算": "by hand",
    "思考": "think",
    "推导": "derive",
    "实验": "experiment",
    "编程": "code",
    "找错": "find the mistake",
}
TITLES = {"输入": "Input", "输出": "Output"}


class Part(NamedTuple):
    """A part of a page that its translation must also have."""

    position: int
    value: str


class PageText(NamedTuple):
    """A page's text, and the same text with parts replaced by spaces of equal length."""

    full: str
    plain: str  # without front matter and code blocks
    prose: str  # without inline code too


def blank(match: re.Match[str]) -> str:
    """Replace everything except line breaks by spaces."""
    return re.sub(r"[^\n]", " ", match[0])


def parse_text(full: str) -> PageText:
    plain = blank_fences(FRONT_MATTER.sub(blank, full))
    return PageText(full, plain, CODE.sub(blank, plain))


def parts(matches: Iterable[re.Match[str]], value: Callable[[re.Match[str]], str]) -> list[Part]:
    return [Part(match.start(), value(match)) for match in matches]


def sort_within_paragraphs(text: PageText, unsorted: list[Part]) -> list[Part]:
    """The parts in the order of their paragraphs, sorted by value inside each."""

    def key(part: Part) -> tuple[int, str]:
        return text.full.count("\n\n", 0, part.position), part.value

    return sorted(unsorted, key=key)


def headings(text: PageText) -> list[Part]:
    return parts(HEADING.finditer(text.prose), lambda m: f"{m[1]} {m[2] or ''}".strip())


def includes(text: PageText) -> list[Part]:
    return parts(INCLUDE.finditer(text.full), lambda m: m[0].strip())


def figures(text: PageText) -> list[Part]:
    return parts(FIGURE.finditer(text.prose), lambda m: m[2])


def formula(match: re.Match[str]) -> str:
    """A formula without its words and redundant spaces, equal in both languages."""
    return " ".join(re.sub(r"\\text\{[^{}]*\}", r"\\text{}", match[1]).split())


def displayed(text: PageText) -> list[Part]:
    return parts(DISPLAY.finditer(text.prose), formula)


def inline(text: PageText) -> list[Part]:
    return parts(INLINE.finditer(DISPLAY.sub(blank, text.prose)), formula)


def blocks(text: PageText) -> list[Part]:
    return parts(BLOCK.finditer(text.prose), lambda m: f"{m[1]} {m[2]}".strip())


def code_blocks(text: PageText) -> list[Part]:
    """Language, classes and title. A translated title becomes "…", except Input and Output."""

    def title(match: re.Match[str]) -> str:
        words = TITLES.get(match[1], match[1])
        is_shared = words in TITLES.values() or re.fullmatch(r"[\w/-]+\.\w+", words, re.A)
        return f'title="{words if is_shared else "…"}"'

    opening = (OPENING.match(text.full, m.start()) for m in FENCE.finditer(text.full))
    return parts(
        filter(None, opening),
        lambda m: re.sub(r'title="([^"]*)"', title, m[2]).strip() or "no language",
    )


def links(text: PageText) -> list[Part]:
    internal = (match for match in LINK.finditer(text.prose) if "://" not in match[1])
    return parts(internal, lambda m: m[1])


def exercises(text: PageText) -> list[Part]:
    items = parts(EXERCISE.finditer(text.plain), lambda m: f"exercise {m[1]}")
    items += parts(ANSWER.finditer(text.plain), lambda m: f"answer {m[1]}")
    return sorted(items)


def exercise_labels(text: PageText) -> list[Part]:
    """The kind and the minutes of each exercise."""
    return parts(
        LABEL.finditer(text.plain),
        lambda m: f"{EXERCISE_KINDS.get(m[1], m[1])}, {m[2]} minutes",
    )


def footnotes(text: PageText) -> list[Part]:
    """The name of each footnote, and the keys that it cites."""

    def value(match: re.Match[str]) -> str:
        return " ".join([f"[^{match[1]}]:", *sorted(CITATION.findall(match[2]))])

    return parts(FOOTNOTE.finditer(text.prose), value)


KINDS: dict[str, Callable[[PageText], list[Part]]] = {
    "heading": headings,
    "include": includes,
    "figure": figures,
    "displayed formula": displayed,
    "formula": lambda text: sort_within_paragraphs(text, inline(text)),
    "block": blocks,
    "code block": code_blocks,
    "note on a line": lambda text: parts(NOTE.finditer(text.plain), lambda m: f"`{m[1]}`"),
    "footnote": footnotes,
    "footnote reference": lambda text: sort_within_paragraphs(
        text, parts(REFERENCE.finditer(text.prose), lambda m: f"[^{m[1]}]")
    ),
    "value": lambda text: sort_within_paragraphs(
        text, parts(VALUE.finditer(text.plain), lambda m: m[0])
    ),
    "link": lambda text: sort_within_paragraphs(text, links(text)),
    "table row": lambda text: parts(TABLE_ROW.finditer(text.prose), lambda m: "a row"),
    "exercise": exercises,
    "label of an exercise": exercise_labels,
}


def differences(name: str, english: str, chinese: str) -> Iterator[str]:
    """The first difference of each kind between the two texts of a page, as messages."""
    en, zh = parse_text(english), parse_text(chinese)
    for kind, find in KINDS.items():
        for number, (en_part, zh_part) in enumerate(zip_longest(find(en), find(zh)), 1):
            if en_part and zh_part and en_part.value == zh_part.value:
                continue
            en_at = location("en", name, english, en_part)
            zh_at = location("zh", name, chinese, zh_part)
            if not zh_part:
                value = en_part.value
                yield f"{zh_at}: missing {kind} {number}, {value}; the original is at {en_at}"
            elif not en_part:
                yield f"{zh_at}: extra {kind} {number}, {zh_part.value}; add it at {en_at}"
            else:
                yield f"{zh_at}: {kind} {number} is {zh_part.value}, but {en_part.value} at {en_at}"
            break


def location(language: str, name: str, text: str, part: Part | None) -> str:
    """file:line of the part, or of the end of the page if there is none."""
    position = part.position if part else len(text.rstrip())
    return f"docs/{language}/{name}:{line_number(text, position)}"


def structure_errors(language: str, name: str, full: str) -> Iterator[str]:
    """Errors in one text: headings without anchors, exercises or answers out of order."""
    text = parse_text(full)
    for part in headings(text):
        if re.fullmatch("##+", part.value):
            at = location(language, name, full, part)
            yield f"{at}: heading without an anchor; add one in English: {{ #its-name }}"
    items = exercises(text)
    for index, part in enumerate(items):
        expected = f"{'answer' if index % 2 else 'exercise'} {index // 2 + 1}"
        if part.value != expected:
            yield f"{location(language, name, full, part)}: {part.value}, expected {expected}"
            break
    else:
        if len(items) % 2:
            yield f"{location(language, name, full, items[-1])}: {items[-1].value} has no answer"
    if not name.startswith("labs/"):  # a lab checks each task itself
        yield from exercise_errors(language, name, full)


def exercise_errors(language: str, name: str, full: str) -> Iterator[str]:
    """Exercises without kind and minutes, of an unknown kind, or not from easy to hard."""
    text, longest = parse_text(full), 0
    labels = {part.position: part.value for part in exercise_labels(text)}
    for exercise in EXERCISE.finditer(text.plain):
        part = Part(exercise.start(), f"exercise {exercise[1]}")
        at = f"{location(language, name, full, part)}: {part.value}"
        if part.position not in labels:
            yield f"{at} has no kind and minutes; write them like (by hand, 5 minutes)."
            continue
        kind, minutes = labels[part.position].removesuffix(" minutes").rsplit(", ", 1)
        if kind not in EXERCISE_KINDS.values():
            yield f"{at} is of unknown kind {kind}; use one of {[*EXERCISE_KINDS.values()]}"
        if int(minutes) < longest:
            yield f"{at} takes {minutes} minutes and comes after one of {longest}"
        longest = max(longest, int(minutes))


def translation_errors() -> Iterator[SourceError]:
    """Pages without a translation, and Chinese pages that are older than their original."""
    for language in LANGUAGES:
        for page in list_pages(language):
            if not page.translation.path.exists():
                name = page.name.removesuffix(".md")
                yield SourceError(
                    page.path,
                    1,
                    f"no translation {page.translation.display_path}; write it and run "
                    f"scripts/translated {name}, or run scripts/translated --pending {name}",
                )
    for page in list_pages("zh"):
        english = page.translation
        if not english.path.exists() or page.is_pending or english.is_pending:
            continue
        if page.meta.get("translated") != english.digest():
            name = page.name.removesuffix(".md")
            yield SourceError(
                page.path,
                1,
                f"{english.display_path} has changed since this page was reviewed; update it and "
                f"run scripts/translated {name}, or run scripts/translated --pending {name}",
            )


def notebook_errors() -> Iterator[SourceError]:
    """Notebooks that were saved with outputs, and code that differs between the languages."""
    for page in list_pages(LANGUAGES[0]):
        if page.is_notebook:
            pages = [each for each in (page, page.translation) if each.path.exists()]
            pending = any(each.is_pending for each in pages)
            errors = notebooks.notebook_errors([each.path for each in pages], code_only=pending)
            yield from (SourceError(*error) for error in errors)
