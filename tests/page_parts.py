"""Compare the structure of a page in English with that of its Chinese translation.

Everything except the words is compared: headings, includes, figures, formulas,
links and so on, in their order. Word order differs between the languages, so
the order of the parts inside one paragraph is ignored. Pages that are marked as
behind their translation (scripts/translated --pending) are not compared.
"""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from bookbuild.pages.files import line_number
from bookbuild.pages.page import (
    CITATION,
    CODE_FENCE,
    FIGURE,
    FOOTNOTE,
    HEADING,
    INCLUDE,
    VALUE,
    blank_fences,
    prose,
)

DISPLAYED_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE_FORMULA = re.compile(r"(?<![\\$])\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$(?!\$)")
BLOCK = re.compile(r"^ *(!!!|\?\?\?\+?|===|///) *([\w-]*)", re.M)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!\w+://)([^)\s]+)[^)]*\)")
FOOTNOTE_REFERENCE = re.compile(r"\[\^([^\]]+)\](?!:)")
LINE_NOTE = re.compile(r"^ *\d+\.\s+(`[^`]+`)", re.M)
TABLE_ROW = re.compile(r"^ *\|", re.M)
# The number, kind and minutes of an exercise, or the number of an answer.
EXERCISE = re.compile(
    r"^\*\*(?:Exercise|练习) (\d+)"
    r"(?:\*\*(?: \(|（)(.+?)(?:, |，)(\d+) (?:minutes?|分钟)(?:\)\. |）。))?"
    r'|^\?\?\? success "(?:Answer|答案) (\d+)',
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
ENGLISH_BLOCK_TITLES = {"输入": "Input", "输出": "Output"}


class Part(NamedTuple):
    """A part of a page that its translation must also have."""

    position: int
    value: str


class PartKind(NamedTuple):
    """How the parts of one kind are found in a page, and what the languages must share."""

    pattern: re.Pattern[str]
    text: Callable[[str], str]  # prose, …; str leaves the text as it is
    value: Callable[[re.Match[str]], str]
    any_order: bool = False  # inside a paragraph


def formula_value(match: re.Match[str]) -> str:
    """A formula without its words and redundant spaces, equal in both languages."""
    return " ".join(re.sub(r"\\text\{[^{}]*\}", r"\\text{}", match[1]).split())


def code_block_value(match: re.Match[str]) -> str:
    """Language, classes and title. A translated title becomes "…", except Input and Output."""

    def title(match: re.Match[str]) -> str:
        words = ENGLISH_BLOCK_TITLES.get(match[1], match[1])
        is_shared = words in ENGLISH_BLOCK_TITLES.values() or re.fullmatch(
            r"[\w/-]+\.\w+", words, re.A
        )
        return f'title="{words if is_shared else "…"}"'

    return re.sub(r'title="([^"]*)"', title, match[3]).strip() or "no language"


def exercise_value(match: re.Match[str]) -> str:
    """exercise 1 (by hand, 5 minutes), or answer 1."""
    number, kind, minutes, answer = match.groups()
    label = f" ({EXERCISE_KINDS.get(kind, kind)}, {minutes} minutes)" if kind else ""
    return f"exercise {number}{label}" if number else f"answer {answer}"


PART_KINDS = {
    "heading": PartKind(HEADING, prose, lambda m: f"{m[1]} {f'#{m[3]}' if m[3] else ''}".strip()),
    "include": PartKind(INCLUDE, str, lambda m: m[0].strip()),
    "figure": PartKind(FIGURE, prose, lambda m: m[2]),
    "displayed formula": PartKind(DISPLAYED_FORMULA, prose, formula_value),
    "formula": PartKind(INLINE_FORMULA, prose, formula_value, any_order=True),
    "block": PartKind(BLOCK, prose, lambda m: f"{m[1]} {m[2]}".strip()),
    "code block": PartKind(CODE_FENCE, str, code_block_value),
    "note on a line": PartKind(LINE_NOTE, blank_fences, lambda m: m[1]),
    "footnote": PartKind(
        FOOTNOTE, prose, lambda m: " ".join([f"[^{m[1]}]:", *sorted(CITATION.findall(m[2]))])
    ),
    "footnote reference": PartKind(FOOTNOTE_REFERENCE, prose, lambda m: m[0], any_order=True),
    "value": PartKind(VALUE, blank_fences, lambda m: m[0], any_order=True),
    # A download made in both languages has two files: pencil.xlsx, pencil.zh.xlsx.
    "link": PartKind(LINK, prose, lambda m: m[1].replace(".zh.", "."), any_order=True),
    "table row": PartKind(TABLE_ROW, prose, lambda m: "a row"),
    "exercise": PartKind(EXERCISE, blank_fences, exercise_value),
}


def find_parts(kind: str, text: str) -> list[Part]:
    """The parts of a kind in the text of a page, in its order."""
    pattern, text_to_search, value, any_order = PART_KINDS[kind]
    parts = [Part(match.start(), value(match)) for match in pattern.finditer(text_to_search(text))]
    if any_order:
        parts.sort(key=lambda part: (text.count("\n\n", 0, part.position), part.value))
    return parts


def differences(name: str, english: str, chinese: str) -> Iterator[str]:
    """The first difference of each kind between the two texts of a page, as messages."""
    for kind in PART_KINDS:
        pairs = zip_longest(find_parts(kind, english), find_parts(kind, chinese))
        for number, (en, zh) in enumerate(pairs, 1):
            if en and zh and en.value == zh.value:
                continue
            en_at = location("en", name, english, en)
            zh_at = location("zh", name, chinese, zh)
            if not zh:
                yield f"{zh_at}: missing {kind} {number}, {en.value}; the original is at {en_at}"
            elif not en:
                yield f"{zh_at}: extra {kind} {number}, {zh.value}; add it at {en_at}"
            else:
                yield f"{zh_at}: {kind} {number} is {zh.value}, but {en.value} at {en_at}"
            break


def location(language: str, name: str, text: str, part: Part | None) -> str:
    """file:line of the part, or of the end of the page if there is none."""
    position = part.position if part else len(text.rstrip())
    return f"docs/{language}/{name}:{line_number(text, position)}"


def structure_errors(language: str, name: str, text: str) -> Iterator[str]:
    """Errors in one text: headings without anchors, wrong exercises."""
    needs_labels = not name.startswith("labs/")  # a lab checks each task itself
    for part, message in [*headings_without_anchor(text), *exercise_errors(text, needs_labels)]:
        yield f"{location(language, name, text, part)}: {message}"


def headings_without_anchor(text: str) -> Iterator[tuple[Part, str]]:
    """Headings without anchors, except the title."""
    for part in find_parts("heading", text):
        if re.fullmatch("##+", part.value):
            yield part, "heading without an anchor; add one in English: { #its-name }"


def exercise_errors(text: str, needs_labels: bool) -> Iterator[tuple[Part, str]]:
    """Exercises and answers out of order; exercises without kind and minutes, of an unknown kind,
    or not from easy to hard."""
    parts, longest = find_parts("exercise", text), 0
    for index, part in enumerate(parts):
        item, _, label = part.value.removesuffix(" minutes)").partition(" (")
        expected = f"{'answer' if index % 2 else 'exercise'} {index // 2 + 1}"
        if item != expected:
            yield part, f"{item}, expected {expected}"
            return
        if not needs_labels or item.startswith("answer"):
            continue
        if not label:
            yield part, f"{item} has no kind and minutes; write them like (by hand, 5 minutes)."
            continue
        kind, minutes = label.rsplit(", ", 1)
        if kind not in EXERCISE_KINDS.values():
            kinds = ", ".join(f"{english} {chinese}" for chinese, english in EXERCISE_KINDS.items())
            yield part, f"{item} is of unknown kind {kind}; use one of {kinds}"
        if int(minutes) < longest:
            yield part, f"{item} takes {minutes} minutes and comes after one of {longest}"
        longest = max(longest, int(minutes))
    if len(parts) % 2:
        yield parts[-1], f"exercise {len(parts) // 2 + 1} has no answer"
