"""Writes the Chinese snippets into .generated/zh/; labs are in docs/zh/."""

import ast
from functools import partial
from pathlib import Path

from bookbuild.localize.catalogs import catalog_path, file_name, snippet_files
from bookbuild.localize.render import render_file
from bookbuild.pages import fresh, paths
from bookbuild.pages.files import read_text, write_file
from bookbuild.pages.labs.notebooks import joined_code

DATA = ("results", "translator.safetensors", "pencil.json")  # which programs read


def chinese_path(source: Path) -> Path:
    """The Chinese version of a snippet, which the build writes, or of a lab."""
    if source.suffix == ".ipynb":
        return paths.DOCS / "zh" / "labs" / source.name
    return paths.GENERATED / "zh" / "snippets" / file_name(source)


def english_path(path: Path) -> Path:
    """The snippet of which a file is the Chinese version; any other file is its own."""
    folder = paths.GENERATED / "zh" / "snippets"
    return paths.SNIPPETS / path.relative_to(folder) if path.is_relative_to(folder) else path


def write_chinese_snippets() -> None:
    """Write the snippets whose words have changed since the last time."""
    for snippet in snippet_files():
        catalog = catalog_path(snippet)
        words = read_text(catalog) if catalog.exists() else ""
        key = fresh.hash_texts([read_text(snippet), words])
        make = partial(write_snippet, snippet)
        fresh.cached(record_name(snippet), key, make, [chinese_path(snippet)])
    for name in DATA:
        link = paths.GENERATED / "zh" / "snippets" / name
        if not link.is_symlink() and (paths.SNIPPETS / name).exists():
            link.symlink_to(paths.SNIPPETS / name)


def record_name(snippet: Path) -> str:
    return f"zh/{file_name(snippet)}"


def write_snippet(snippet: Path) -> str:
    """Write it; returns a hash of its code if what it prints may be in Chinese."""
    chinese = render_file(snippet)
    write_file(chinese_path(snippet), chinese)
    return hash_if_different(read_text(snippet), chinese)


def code_in_chinese(source: Path) -> str:
    """A hash of the Chinese code of a snippet or lab, if what it prints may be in Chinese.

    It is empty if only comments and docstrings are in Chinese.
    """
    if source.suffix != ".ipynb":
        return fresh.recorded(record_name(source))[1] or ""
    chinese = chinese_path(source)
    return hash_if_different(joined_code(source), joined_code(chinese)) if chinese.exists() else ""


def hash_if_different(english: str, chinese: str) -> str:
    try:
        codes = [ast.dump(without_docstrings(ast.parse(text))) for text in (english, chinese)]
    except SyntaxError:  # running the program reports it
        return ""
    return fresh.hash_texts(codes[1:]) if codes[0] != codes[1] else ""


def without_docstrings(tree: ast.AST) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ...
    return tree
