"""Renders a snippet with Chinese words: the same code on the same lines."""

import ast
from pathlib import Path
from tokenize import TokenError

from bookbuild.localize.catalogs import Translations, read_code, translations
from bookbuild.localize.texts import Text, find_texts


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
