"""Renders a snippet with Chinese words: the same code on the same lines."""

import ast
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from tokenize import TokenError

from bookbuild.localize.catalogs import (
    Translations,
    catalog_path,
    code_files,
    read_catalog,
    read_code,
    translations,
)
from bookbuild.localize.texts import JSDOC_TAG, Text, find_texts
from bookbuild.pages.errors import SourceError

WIDE_PUNCTUATION = "“”‘’…—"  # as wide as a Chinese character in a Chinese font


def render(source: str, chinese: Translations, suffix: str = ".py") -> str:
    """The code with Chinese words where there are some."""
    lines = source.splitlines(keepends=True)
    for text in reversed(find_texts(source, suffix)):
        if text.words in chinese:
            (first, column), (last, end) = text.start, text.end
            code = replacement(text, chinese[text.words])
            code = f"{lines[first - 1][:column]}{code}{lines[last - 1][end:]}"
            lines[first - 1 : last] = code.splitlines(keepends=True)
    return "".join(lines)


def replacement(text: Text, words: str) -> str:
    """The source code of a text with Chinese words, line by line."""
    lines = text.source.split("\n")
    for number, (english, chinese) in enumerate(
        zip(text.words.split("\n"), words.split("\n"), strict=False)
    ):
        if english:
            lines[number] = lines[number].replace(english, chinese, 1)
    return "\n".join(lines)


def render_file(snippet: Path) -> str:
    """The code of a snippet or lab in Chinese; unchanged if running it reports an error in it."""
    source = read_code(snippet)
    try:
        return render(source, translations(snippet), snippet.suffix)
    except (SyntaxError, TokenError):
        return source


def without_words(tree: ast.AST) -> ast.AST:
    """A syntax tree without docstrings and the text of strings; placeholders in any order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ...
        elif isinstance(node, ast.JoinedStr):
            values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
            node.values = sorted(values, key=ast.dump)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return tree


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
