"""Do both languages of a page say the same, as far as a machine can tell?

Everything but the words is compared: headings, includes, figures, formulas,
links and so on, in their order. Chinese puts the parts of a sentence in another
order than English, so what stands inside the sentences of one paragraph is
compared without regard to its order there.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

import book

CODE = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.S)
INLINE = re.compile(r"(?<![\\$])\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$")
HEADING = re.compile(r"^(#{1,6}) [^\n]*?(?:\{ *(#[\w-]+)[^}\n]*\})? *$", re.M)
OPENING = re.compile(r"^ *(`{3,}|~{3,})([^\n`]*)$", re.M)
BLOCK = re.compile(r"^ *(!!!|\?\?\?\+?|===|///) *([\w-]*)", re.M)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)[^)]*\)")
DEFINITION = re.compile(r"^\[\^([^\]]+)\]:", re.M)
REFERENCE = re.compile(r"\[\^([^\]]+)\](?!:)")
NOTE = re.compile(r"^ *\d+\.\s+`([^`]+)`", re.M)
TABLE_ROW = re.compile(r"^ *\|", re.M)
EXERCISE = re.compile(r"^\*\*(?:Exercise|练习) (\d+)", re.M)
ANSWER = re.compile(r'^\?\?\? success "(?:Answer|答案) (\d+)', re.M)
LABEL = re.compile(
    r"^\*\*(?:Exercise|练习) \d+\*\*(?: \(|（)(.+?)(?:, |，)(\d+) (?:minutes?|分钟)(?:\)\. |）。)",
    re.M,
)
KINDS_OF_EXERCISE = {  # what one does
    "动手算": "by hand",
    "思考": "think",
    "推导": "derive",
    "实验": "experiment",
    "编程": "code",
    "找错": "find the mistake",
}
TITLES = {"输入": "Input", "输出": "Output"}


class Part(NamedTuple):
    """Something of a page that its twin must have too."""

    position: int
    what: str


class Text(NamedTuple):
    """A page's text, and the same with parts of it blanked, all in their places."""

    full: str
    plain: str  # without front matter and code blocks
    prose: str  # without inline code too


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def read(full: str) -> Text:
    plain = book.outside_fences(book.FRONT_MATTER.sub(blank, full))
    return Text(full, plain, CODE.sub(blank, plain))


def parts(matches: Iterable[re.Match[str]], what: Callable[[re.Match[str]], str]) -> list[Part]:
    return [Part(match.start(), what(match)) for match in matches]


def within_paragraphs(text: Text, found: list[Part]) -> list[Part]:
    """The parts in the order of their paragraphs, sorted inside each."""
    return sorted(found, key=lambda part: (text.full.count("\n\n", 0, part.position), part.what))


def headings(text: Text) -> list[Part]:
    return parts(HEADING.finditer(text.prose), lambda m: f"{m[1]} {m[2] or ''}".strip())


def includes(text: Text) -> list[Part]:
    return parts(book.INCLUDE.finditer(text.full), lambda m: m[0].strip())


def figures(text: Text) -> list[Part]:
    return parts(book.FIGURE.finditer(text.prose), lambda m: m[2])


def formula(match: re.Match[str]) -> str:
    """A formula as both languages have it: without words and needless spaces."""
    return " ".join(re.sub(r"\\text\{[^{}]*\}", r"\\text{}", match[1]).split())


def displayed(text: Text) -> list[Part]:
    return parts(DISPLAY.finditer(text.prose), formula)


def inline(text: Text) -> list[Part]:
    return parts(INLINE.finditer(DISPLAY.sub(blank, text.prose)), formula)


def blocks(text: Text) -> list[Part]:
    return parts(BLOCK.finditer(text.prose), lambda m: f"{m[1]} {m[2]}".strip())


def code_blocks(text: Text) -> list[Part]:
    """Language, classes and title: a file's name, Input, Output, or any words."""

    def title(match: re.Match[str]) -> str:
        words = TITLES.get(match[1], match[1])
        same = words in TITLES.values() or re.fullmatch(r"[\w/-]+\.\w+", words, re.A)
        return f'title="{words if same else "…"}"'

    opening = (OPENING.match(text.full, m.start()) for m in book.FENCE.finditer(text.full))
    return parts(
        filter(None, opening),
        lambda m: re.sub(r'title="([^"]*)"', title, m[2]).strip() or "no language",
    )


def links(text: Text) -> list[Part]:
    found = parts(LINK.finditer(text.prose), lambda m: m[1])
    return [part for part in found if "://" not in part.what]


def exercises(text: Text) -> list[Part]:
    both = parts(EXERCISE.finditer(text.plain), lambda m: f"exercise {m[1]}")
    both += parts(ANSWER.finditer(text.plain), lambda m: f"answer {m[1]}")
    return sorted(both)


def labels(text: Text) -> list[Part]:
    """What one does in each exercise, and for how long."""
    return parts(
        LABEL.finditer(text.plain),
        lambda m: f"{KINDS_OF_EXERCISE.get(m[1], m[1])}, {m[2]} minutes",
    )


KINDS: dict[str, Callable[[Text], list[Part]]] = {
    "heading": headings,
    "include": includes,
    "figure": figures,
    "displayed formula": displayed,
    "formula": lambda text: within_paragraphs(text, inline(text)),
    "block": blocks,
    "code block": code_blocks,
    "note on a line": lambda text: parts(NOTE.finditer(text.plain), lambda m: f"`{m[1]}`"),
    "footnote": lambda text: parts(DEFINITION.finditer(text.prose), lambda m: f"[^{m[1]}]:"),
    "footnote reference": lambda text: within_paragraphs(
        text, parts(REFERENCE.finditer(text.prose), lambda m: f"[^{m[1]}]")
    ),
    "value": lambda text: within_paragraphs(
        text, parts(book.VALUE.finditer(text.plain), lambda m: m[0])
    ),
    "link": lambda text: within_paragraphs(text, links(text)),
    "table row": lambda text: parts(TABLE_ROW.finditer(text.prose), lambda m: "a row"),
    "exercise": exercises,
    "label of an exercise": labels,
}


def differences(name: str, english: str, chinese: str) -> Iterator[str]:
    """The first difference of each kind between the two texts of a page, in words."""
    en, zh = read(english), read(chinese)
    for kind, find in KINDS.items():
        for number, (ours, theirs) in enumerate(zip_longest(find(en), find(zh)), 1):
            if ours and theirs and ours.what == theirs.what:
                continue
            there = place("en", name, english, ours)
            here = place("zh", name, chinese, theirs)
            if not theirs:
                yield f"{here}: {kind} {number}, {ours.what}, is missing; it stands at {there}"
            elif not ours:
                yield f"{here}: {kind} {number}, {theirs.what}, has no twin; add it to {there}"
            else:
                yield f"{here}: {kind} {number} is {theirs.what}, but {ours.what} at {there}"
            break


def place(language: str, name: str, text: str, part: Part | None) -> str:
    """file:line of the part; of the page's end if there is none."""
    position = part.position if part else len(text.rstrip())
    return f"docs/{language}/{name}:{book.line_of(text, position)}"


def faults(language: str, name: str, full: str) -> Iterator[str]:
    """What is wrong with one text alone: headings without anchors, answers out of place."""
    text = read(full)
    for part in headings(text):
        if re.fullmatch("##+", part.what):
            at = place(language, name, full, part)
            yield f"{at}: this heading has no anchor; add one in English: {{ #its-name }}"
    found = exercises(text)
    for index, part in enumerate(found):
        wanted = f"{'answer' if index % 2 else 'exercise'} {index // 2 + 1}"
        if part.what != wanted:
            yield f"{place(language, name, full, part)}: {part.what} stands where {wanted} should"
            break
    else:
        if len(found) % 2:
            yield f"{place(language, name, full, found[-1])}: {found[-1].what} has no answer"
    if not name.startswith("labs/"):  # there a task is checked as soon as it is done
        yield from label_faults(language, name, full)


def label_faults(language: str, name: str, full: str) -> Iterator[str]:
    """Exercises without kind and size, of no known kind, or not from easy to hard."""
    text, longest = read(full), 0
    found = {part.position: part.what for part in labels(text)}
    for exercise in EXERCISE.finditer(text.plain):
        part = Part(exercise.start(), f"exercise {exercise[1]}")
        at = f"{place(language, name, full, part)}: {part.what}"
        if part.position not in found:
            yield f"{at} doesn't say what one does and how long it takes: (by hand, 5 minutes)."
            continue
        kind, minutes = found[part.position].removesuffix(" minutes").rsplit(", ", 1)
        if kind not in KINDS_OF_EXERCISE.values():
            yield f"{at} is of the kind {kind}; take one of {[*KINDS_OF_EXERCISE.values()]}"
        if int(minutes) < longest:
            yield f"{at} takes {minutes} minutes and comes after one of {longest}"
        longest = max(longest, int(minutes))
