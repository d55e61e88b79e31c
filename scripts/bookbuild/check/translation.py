"""Do both languages of a page say the same, as far as a machine can tell?

Everything but the words is compared: headings, includes, figures, formulas,
links and so on, in their order. Chinese puts the parts of a sentence in another
order than English, so what stands inside the sentences of one paragraph is
compared without regard to its order there.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from bookbuild.pages import notebooks, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number, write_file
from bookbuild.pages.page import (
    CITATION,
    FENCE,
    FIGURE,
    FOOTNOTE,
    FRONT_MATTER,
    INCLUDE,
    VALUE,
    SourcePage,
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


class PageText(NamedTuple):
    """A page's text, and the same with parts of it blanked, all in their places."""

    full: str
    plain: str  # without front matter and code blocks
    prose: str  # without inline code too


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def parse_text(full: str) -> PageText:
    plain = blank_fences(FRONT_MATTER.sub(blank, full))
    return PageText(full, plain, CODE.sub(blank, plain))


def parts(matches: Iterable[re.Match[str]], what: Callable[[re.Match[str]], str]) -> list[Part]:
    return [Part(match.start(), what(match)) for match in matches]


def within_paragraphs(text: PageText, found: list[Part]) -> list[Part]:
    """The parts in the order of their paragraphs, sorted inside each."""
    return sorted(found, key=lambda part: (text.full.count("\n\n", 0, part.position), part.what))


def headings(text: PageText) -> list[Part]:
    return parts(HEADING.finditer(text.prose), lambda m: f"{m[1]} {m[2] or ''}".strip())


def includes(text: PageText) -> list[Part]:
    return parts(INCLUDE.finditer(text.full), lambda m: m[0].strip())


def figures(text: PageText) -> list[Part]:
    return parts(FIGURE.finditer(text.prose), lambda m: m[2])


def formula(match: re.Match[str]) -> str:
    """A formula as both languages have it: without words and needless spaces."""
    return " ".join(re.sub(r"\\text\{[^{}]*\}", r"\\text{}", match[1]).split())


def displayed(text: PageText) -> list[Part]:
    return parts(DISPLAY.finditer(text.prose), formula)


def inline(text: PageText) -> list[Part]:
    return parts(INLINE.finditer(DISPLAY.sub(blank, text.prose)), formula)


def blocks(text: PageText) -> list[Part]:
    return parts(BLOCK.finditer(text.prose), lambda m: f"{m[1]} {m[2]}".strip())


def code_blocks(text: PageText) -> list[Part]:
    """Language, classes and title: a file's name, Input, Output, or any words."""

    def title(match: re.Match[str]) -> str:
        words = TITLES.get(match[1], match[1])
        same = words in TITLES.values() or re.fullmatch(r"[\w/-]+\.\w+", words, re.A)
        return f'title="{words if same else "…"}"'

    opening = (OPENING.match(text.full, m.start()) for m in FENCE.finditer(text.full))
    return parts(
        filter(None, opening),
        lambda m: re.sub(r'title="([^"]*)"', title, m[2]).strip() or "no language",
    )


def links(text: PageText) -> list[Part]:
    found = parts(LINK.finditer(text.prose), lambda m: m[1])
    return [part for part in found if "://" not in part.what]


def exercises(text: PageText) -> list[Part]:
    both = parts(EXERCISE.finditer(text.plain), lambda m: f"exercise {m[1]}")
    both += parts(ANSWER.finditer(text.plain), lambda m: f"answer {m[1]}")
    return sorted(both)


def exercise_labels(text: PageText) -> list[Part]:
    """What one does in each exercise, and for how long."""
    return parts(
        LABEL.finditer(text.plain),
        lambda m: f"{KINDS_OF_EXERCISE.get(m[1], m[1])}, {m[2]} minutes",
    )


def footnotes(text: PageText) -> list[Part]:
    """Name and keys of what is cited."""

    def what(match: re.Match[str]) -> str:
        return " ".join([f"[^{match[1]}]:", *sorted(CITATION.findall(match[2]))])

    return parts(FOOTNOTE.finditer(text.prose), what)


KINDS: dict[str, Callable[[PageText], list[Part]]] = {
    "heading": headings,
    "include": includes,
    "figure": figures,
    "displayed formula": displayed,
    "formula": lambda text: within_paragraphs(text, inline(text)),
    "block": blocks,
    "code block": code_blocks,
    "note on a line": lambda text: parts(NOTE.finditer(text.plain), lambda m: f"`{m[1]}`"),
    "footnote": footnotes,
    "footnote reference": lambda text: within_paragraphs(
        text, parts(REFERENCE.finditer(text.prose), lambda m: f"[^{m[1]}]")
    ),
    "value": lambda text: within_paragraphs(
        text, parts(VALUE.finditer(text.plain), lambda m: m[0])
    ),
    "link": lambda text: within_paragraphs(text, links(text)),
    "table row": lambda text: parts(TABLE_ROW.finditer(text.prose), lambda m: "a row"),
    "exercise": exercises,
    "label of an exercise": exercise_labels,
}


def differences(name: str, english: str, chinese: str) -> Iterator[str]:
    """The first difference of each kind between the two texts of a page, in words."""
    en, zh = parse_text(english), parse_text(chinese)
    for kind, find in KINDS.items():
        for number, (ours, theirs) in enumerate(zip_longest(find(en), find(zh)), 1):
            if ours and theirs and ours.what == theirs.what:
                continue
            there = location("en", name, english, ours)
            here = location("zh", name, chinese, theirs)
            if not theirs:
                yield f"{here}: {kind} {number}, {ours.what}, is missing; it stands at {there}"
            elif not ours:
                yield f"{here}: {kind} {number}, {theirs.what}, has no twin; add it to {there}"
            else:
                yield f"{here}: {kind} {number} is {theirs.what}, but {ours.what} at {there}"
            break


def location(language: str, name: str, text: str, part: Part | None) -> str:
    """file:line of the part; of the page's end if there is none."""
    position = part.position if part else len(text.rstrip())
    return f"docs/{language}/{name}:{line_number(text, position)}"


def structure_errors(language: str, name: str, full: str) -> Iterator[str]:
    """What is wrong with one text alone: headings without anchors, answers out of place."""
    text = parse_text(full)
    for part in headings(text):
        if re.fullmatch("##+", part.what):
            at = location(language, name, full, part)
            yield f"{at}: this heading has no anchor; add one in English: {{ #its-name }}"
    found = exercises(text)
    for index, part in enumerate(found):
        wanted = f"{'answer' if index % 2 else 'exercise'} {index // 2 + 1}"
        if part.what != wanted:
            yield f"{location(language, name, full, part)}: {part.what}, expected {wanted}"
            break
    else:
        if len(found) % 2:
            yield f"{location(language, name, full, found[-1])}: {found[-1].what} has no answer"
    if not name.startswith("labs/"):  # there a task is checked as soon as it is done
        yield from exercise_errors(language, name, full)


def exercise_errors(language: str, name: str, full: str) -> Iterator[str]:
    """Exercises without kind and size, of no known kind, or not from easy to hard."""
    text, longest = parse_text(full), 0
    found = {part.position: part.what for part in exercise_labels(text)}
    for exercise in EXERCISE.finditer(text.plain):
        part = Part(exercise.start(), f"exercise {exercise[1]}")
        at = f"{location(language, name, full, part)}: {part.what}"
        if part.position not in found:
            yield f"{at} doesn't say what one does and how long it takes: (by hand, 5 minutes)."
            continue
        kind, minutes = found[part.position].removesuffix(" minutes").rsplit(", ", 1)
        if kind not in KINDS_OF_EXERCISE.values():
            yield f"{at} is of the kind {kind}; take one of {[*KINDS_OF_EXERCISE.values()]}"
        if int(minutes) < longest:
            yield f"{at} takes {minutes} minutes and comes after one of {longest}"
        longest = max(longest, int(minutes))


def translation_errors() -> Iterator[SourceError]:
    """Pages without a twin, and translations of an older page."""
    for language in LANGUAGES:
        for page in list_pages(language):
            if not page.translation.path.exists():
                name = page.name.removesuffix(".md")
                how = f"write it, then run scripts/translated {name}"
                yield SourceError(
                    page.path, 1, f"has no translation {page.translation.display_path}; {how}"
                )
    for page in list_pages("zh"):
        if (
            page.translation.path.exists()
            and page.meta.get("translated") != page.translation.digest()
        ):
            name = page.name.removesuffix(".md")
            yield SourceError(
                page.path,
                1,
                f"{page.translation.display_path} has changed since this page was reviewed: "
                f"read both, then run scripts/translated {name}",
            )


def notebook_errors() -> Iterator[SourceError]:
    """Notebooks with outputs in them, and code that differs between the languages."""
    for page in list_pages(LANGUAGES[0]):
        if page.is_notebook:
            twins = [
                page.path,
                *([page.translation.path] if page.translation.path.exists() else []),
            ]
            yield from (SourceError(*fault) for fault in notebooks.notebook_errors(twins))


def mark_translated(name: str) -> str:
    """Note in the Chinese page that it was checked against the English one."""
    page = SourcePage("zh", f"{name.removesuffix('.md')}.md")
    for path in (page.path, page.translation.path):
        if not path.exists():
            raise FileNotFoundError(f"there is no {path.relative_to(paths.ROOT)}")
    line = f"translated: {page.translation.digest()}"
    if page.is_notebook:
        notebook = json.loads(page.path.read_text(encoding="utf-8"))
        notebook["metadata"]["book"]["translated"] = page.translation.digest()
        write_file(page.path, notebooks.canonical_json(notebook))
        return line
    text, match = page.text, FRONT_MATTER.match(page.text)
    if not match:
        text = f"---\n{line}\n---\n\n{text}"
    elif re.search(r"^translated:", match[1], re.M):
        head = re.sub(r"^translated:.*$", line, match[0], flags=re.M)
        text = head + text[match.end() :]
    else:
        text = f"---\n{match[1]}\n{line}\n---\n{text[match.end() :]}"
    write_file(page.path, text)
    return line


def main() -> None:
    """Called by scripts/translated: mark one page as reviewed."""
    name = sys.argv[1]
    print(name, mark_translated(name))


if __name__ == "__main__":
    main()
