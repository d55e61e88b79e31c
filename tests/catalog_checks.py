"""Checks of the Chinese words of the code: all are there, and fit in the place of the English."""

import ast
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bookbuild.localize.catalogs import (
    catalog_path,
    code_files,
    file_name,
    is_needed,
    read_catalog,
    read_code,
    translations,
)
from bookbuild.localize.render import render, replacement, without_words
from bookbuild.localize.texts import JSDOC_TAG, Text, find_texts
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError

WIDE_PUNCTUATION = "“”‘’…—"  # as wide as a Chinese character in a Chinese font


def catalog_errors() -> Iterator[SourceError]:
    """Words without Chinese, and entries that are to be reviewed or that no file has."""
    used: dict[Path, set[tuple]] = defaultdict(set)
    for snippet in code_files():
        path = catalog_path(snippet)
        catalog, known = read_catalog(path), translations(snippet)
        for text in find_texts(read_code(snippet), snippet.suffix):
            used[path] |= {(text.words, None), (text.words, file_name(snippet))}
            if is_needed(text, snippet, catalog) and text.words not in known:
                hint = f"run scripts/translated --code, then complete snippets/zh/{path.name}"
                message = f"no Chinese for the {text.kind} {text.words!r}; {hint}"
                yield SourceError(snippet, text.start[0], message)
    for path in sorted(paths.SNIPPETS.glob("zh/*.po")):
        for entry in read_catalog(path):
            if entry.id and (entry.id, entry.context) not in used[path]:
                message = f"no file has the words {entry.id!r}; run scripts/translated --code"
                yield SourceError(path, entry.lineno or 1, message)


def columns(line: str) -> int:
    """The width of a line; a Chinese character is as wide as two others."""
    wide = (unicodedata.east_asian_width(c) in "WF" or c in WIDE_PUNCTUATION for c in line)
    return len(line) + sum(wide)


def rendering_errors() -> Iterator[SourceError]:
    """Chinese words that change the code or its lines, or that make a section wider."""
    for snippet in code_files():
        source, chinese, path = read_code(snippet), translations(snippet), None
        texts = [text for text in find_texts(source, snippet.suffix) if text.words in chinese]
        for text in texts:
            if reason := why_unfit(text, chinese[text.words]):
                path = catalog_path(snippet)
                yield SourceError(path, line_of(text, path), f"{reason}: {chinese[text.words]!r}")
        lines = render(source, chinese, snippet.suffix).splitlines() if texts and not path else []
        limits = section_widths(source)
        for text in texts if lines else ():
            if columns(chinese[text.words]) == len(chinese[text.words]):
                continue  # an address
            numbers = range(text.start[0] - 1, text.end[0])
            if (excess := max(columns(lines[n]) - limits[n] for n in numbers)) > 0:
                message = f"shorten it by {excess} columns: {chinese[text.words]!r}"
                yield SourceError(
                    catalog_path(snippet), line_of(text, catalog_path(snippet)), message
                )


def line_of(text: Text, catalog: Path) -> int:
    entry = read_catalog(catalog).get(text.words)
    return (entry.lineno if entry else None) or 1


def why_unfit(text: Text, words: str) -> str | None:
    """Why these Chinese words can't replace the English ones; None if they can."""
    if words.count("\n") != text.words.count("\n"):
        count = text.words.count("\n") + 1
        return f"write {count} lines, as in English"
    if text.kind == "comment":
        same = [sorted(JSDOC_TAG.findall(each)) for each in (text.words, words)]
    elif text.source.startswith("`"):
        same = [sorted(re.findall(r"\$\{.*?\}", each)) for each in (text.words, words)]
    else:
        try:
            trees = [ast.parse(source) for source in (text.source, replacement(text, words))]
        except SyntaxError as error:
            return f"{error.msg} in the Chinese words"
        same = [ast.dump(without_words(tree)) for tree in trees]
    return None if same[0] == same[1] else "the placeholders differ from the English ones"


def section_widths(source: str) -> list[int]:
    """For each line the width of the widest line of its section."""
    lines, widths, start = source.splitlines(), [], 0
    for number, line in enumerate([*lines, "# --8<--"]):
        if "--8<--" in line:
            widths += [max(map(columns, lines[start:number]), default=0)] * (number - start)
            start = number
    return widths
