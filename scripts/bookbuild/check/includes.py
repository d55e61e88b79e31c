"""Checks that included files, sections, figures and values exist."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bookbuild.check.translation import translation_errors
from bookbuild.pages import contents, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.page import (
    FIGURE,
    FOOTNOTE,
    HEADING,
    INCLUDE,
    VALUE,
    SourcePage,
    blank_fences,
    list_pages,
    prose,
)
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections
from bookbuild.pages.values import output_name, resolve_value, source_path

OPEN_FENCE = re.compile(r"^ *(`{3,}|~{3,})", re.M)
FOOTNOTE_MARK = re.compile(r"\[\^([^\]\s]+)\](?!:)")
# What a page would show as it is written: a miswritten value or include, and its right form.
MISWRITTEN = (
    (re.compile(r"\{\{ *[\w-]+/[\w-]+:[^{}\n]*\}\}"), VALUE, "{{ chapter/example: label }}"),
    (re.compile(r"^[ \t]*--8<--(?! \[).*$", re.M), INCLUDE, '--8<-- "FILE:SECTION"'),
)
SHOWN_SNIPPETS = ("*.py", "*.js", "variants/*.py")  # each of their sections is on one page


def include_path(file: str, language: str) -> Path:
    """The path of an included file, in the folders that pymdownx.snippets searches.

    Raises ValueError if it doesn't exist.
    """
    options = contents.settings(language)["markdown_extensions"]["pymdownx.snippets"]
    for folder in options["base_path"]:
        if (paths.ROOT / folder / file).is_file():
            return paths.ROOT / folder / file
    raise ValueError(f"missing file {file} in snippets/ or .generated/; correct the name or add it")


def check_include(include: re.Match[str], language: str) -> None:
    """Raises ValueError if the included file or section doesn't exist."""
    file, section = include.groups()
    path = include_path(file, language)
    if section and section not in (sections := read_sections(path)):
        raise ValueError(f"no section {section} in {file}; it has: {', '.join(sections) or 'none'}")


def check_figure(figure: re.Match[str], language: str) -> None:
    """Raises ValueError if the figure or its alternative text is missing."""
    alt_text, file = figure.groups()
    if not (paths.GENERATED / language / file).is_file():
        source = f"scripts/{Path(file).parent}.py"
        raise ValueError(f"missing figure {file}; correct the name or add its function to {source}")
    if not alt_text.strip():
        raise ValueError(f"{file} has no alternative text; describe the figure between [ and ]")


def page_errors(page: SourcePage) -> Iterator[SourceError]:
    """Missing includes, figures and values of a page, and invalid front matter."""
    try:
        page.meta  # noqa: B018
    except SourceError as error:
        yield error
    full, plain = page.text, blank_fences(page.text)
    for pattern, text, check in (
        (INCLUDE, full, check_include),
        (FIGURE, plain, check_figure),
        (VALUE, plain, lambda value, _: resolve_value(value[1])),
    ):
        for match in pattern.finditer(text):
            try:
                check(match, page.language)
            except ValueError as error:
                yield page.error(match.start(), str(error))
            except SourceError as error:
                yield error


def shown_parts(text: str) -> Counter[str]:
    """How often the text of a page shows each file, section, figure and output."""
    parts = [":".join(filter(None, match.groups())) for match in INCLUDE.finditer(text)]
    parts += [match[2] for match in FIGURE.finditer(text)]
    parts += [output_name(match[1]) for match in VALUE.finditer(text)]
    return Counter(parts)


def unused_parts(language: str) -> Iterator[SourceError]:
    """Outputs, figures and quizzes that no page of the language shows, and sections not shown
    once."""
    shown: Counter[str] = Counter()
    for page in list_pages(language):
        parts = shown_parts(page.text)
        if page.is_pending:  # it need not show yet what only its translation shows
            parts |= shown_parts(page.translation.text)
        shown += parts
    own = paths.GENERATED / language
    for folder, pattern in ((paths.GENERATED, "outputs/**/*.txt"), (own, "figures/**/*.svg")):
        for path in sorted(folder.glob(pattern)):
            name = path.relative_to(folder).as_posix()
            if name not in shown:
                message = f"no page of docs/{language} shows {name}; add it to a page or remove it"
                yield SourceError(source_path(name), 1, message)
    for path in sorted((paths.DOCS / "quizzes").glob("*.yml")):
        if (name := f"quizzes/{path.stem}.md") not in shown:
            message = f'no page of docs/{language} shows the quiz; add --8<-- "{name}" or remove it'
            yield SourceError(path, 1, message)
    for path in sorted(path for glob in SHOWN_SNIPPETS for path in paths.SNIPPETS.glob(glob)):
        file, text = path.relative_to(paths.SNIPPETS).as_posix(), path.read_text(encoding="utf-8")
        for section in read_sections(path) or [None]:
            name = f"{file}:{section}" if section else file
            if shown[name] != 1:
                line = line_number(text, text.index(f"[start:{section}]")) if section else 1
                subject = f"section {section}" if section else "the file"
                hint = f'show it once: --8<-- "{name}"'
                message = f"docs/{language} shows {subject} {shown[name]} times; {hint}"
                yield SourceError(path, line, message)


def markup_errors(page: SourcePage) -> Iterator[SourceError]:
    """Markup that a page would show as it is written, and what is wrong with its headings."""
    text = blank_fences(page.text)
    if fence := OPEN_FENCE.search(text):
        yield page.error(fence.start(), f"this block of code has no end; add a line {fence[1]}")
    for pattern, right, form in MISWRITTEN:
        for match in pattern.finditer(text if right is VALUE else page.text):
            if not right.fullmatch(match[0]):
                yield page.error(match.start(), f"write {match[0].strip()} as {form}")
    words = prose(page.text)
    if words.count("$$") % 2:
        yield page.error(words.rindex("$$"), "this formula has no end; add $$")
    defined = {footnote[1] for footnote in FOOTNOTE.finditer(text)}
    for mark in FOOTNOTE_MARK.finditer(words):
        if mark[1] not in defined:
            message = f"there is no footnote {mark[1]}; add a paragraph [^{mark[1]}]: @KEY."
            yield page.error(mark.start(), message)
    if page.is_notebook:
        return
    titles = [heading for heading in HEADING.finditer(text) if len(heading[1]) == 1]
    if len(titles) != 1:
        message = f"{len(titles)} titles; begin the page with one, # TITLE, and sections with ##"
        yield page.error(titles[-1].start() if titles else 0, message)
    for heading in HEADING.finditer(text):
        if len(heading[1]) > 1 and not heading[3]:
            message = "heading without an anchor; add one in English: { #its-name }"
            yield page.error(heading.start(), message)


def completeness_errors() -> Iterator[SourceError]:
    """What is missing before the book can be published; stops a strict build only."""
    yield from translation_errors()
    for language in LANGUAGES:
        yield from unused_parts(language)
        for page in list_pages(language):
            yield from markup_errors(page)
            if not page.meta.get("description"):
                hint = "describe the page in its front matter, in one sentence"
                yield SourceError(page.path, 1, f"has no description; {hint}")
