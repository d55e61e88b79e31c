"""Derives what a program prints in Chinese from what it prints in English.

Only constant words differ, so each printed line is matched with the strings and the calls of print
in the program and in the modules that it imports. A test runs every Chinese program.
"""

import ast
import copy
import functools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from bookbuild.localize.render import without_words

# What a lab prints, which is fenced, or a text between two tags in what it shows as HTML.
SHOWN_TEXT = re.compile(r'(?ms)(?<=^```text title=""\n).*?(?=\n```$)|(?<=>)[^<>\n]+(?=<)')
Part = str | ast.expr  # a constant text, or an expression whose value is printed
Source = tuple[str, str]  # of a file, in English and in Chinese


class Template(NamedTuple):
    """A text that a program prints: a pattern of the English one, the parts of the Chinese one."""

    pattern: re.Pattern[str]
    chinese: list[str | int]  # constant texts, and groups of the pattern
    size: int  # of all constant texts
    kind: Literal["printed", "raised", "part"]

    @property
    def may_match_more(self) -> bool:
        """A text that begins with a value may match what is printed before it too."""
        return self.kind != "printed" and self.pattern.pattern.startswith("(")


def derive_output(printed: str, program: Source, modules: Iterable[Source]) -> str:
    """The Chinese output of a program; each file comes in English and in Chinese."""
    try:
        changed = [find_templates(*module) for module in modules if module[0] != module[1]]
        own, imported = find_templates(*program), [each for module in changed for each in module]
    except (SyntaxError, ValueError):  # running the program or checking the catalogs reports it
        return printed
    of_values = sorted([*own, *imported], key=lambda template: -template.size)
    of_lines = [*own, *(each for each in imported if each.kind != "part")]
    of_lines.sort(key=lambda template: (template.may_match_more, -template.size))
    words = {each.pattern.pattern: str(each.chinese[0]) for each in own if not each.pattern.groups}
    any_words = re.compile(
        "|".join(rf"(?:\b|(?=\W)){each}(?:\b|(?<=\W))" for each in sorted(words, key=len)[::-1])
        or "(?!)"
    )

    def translate(text: str, templates: list[Template]) -> str:
        for template in templates:
            if match := template.pattern.fullmatch(text):
                return "".join(
                    part if isinstance(part, str) else translate_value(match[part])
                    for part in template.chinese
                )
        return any_words.sub(lambda match: words[re.escape(match[0])], text)

    def translate_value(text: str) -> str:
        """A value may be words too, formatted to a width."""
        chinese = translate(text.strip(" "), of_values)
        if text.startswith(" "):
            return chinese.rjust(len(text))
        return chinese.ljust(len(text)) if text.endswith(" ") else chinese

    return "".join(f"{translate(line, of_lines)}\n" for line in printed.splitlines())


def derive_lab_outputs(shown: str, program: Source, modules: list[Source]) -> str:
    """What the cells of a lab show in Chinese: a JSON list of Markdown with fenced text and HTML.

    In HTML, each text between two tags is derived like a line.
    """

    def derive(match: re.Match[str]) -> str:
        return derive_output(match[0], program, modules).removesuffix("\n")

    return json.dumps([SHOWN_TEXT.sub(derive, cell) for cell in json.loads(shown)])


@functools.lru_cache(maxsize=512)
def find_templates(english: str, chinese: str) -> list[Template]:
    """A template for each string and each call of print with constant text."""
    tree, templates = ast.parse(english), []
    errors = {
        part for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node)
    }
    for node, other in paired_nodes(tree, ast.parse(chinese)):
        parts = [*printed_parts(node)]
        if re.search(r"[^\s.,]", constant_text(parts)):
            kind = (
                "printed" if isinstance(node, ast.Call) else "raised" if node in errors else "part"
            )
            pattern, chinese_parts = make_pattern(parts, [*printed_parts(other)])
            templates.append(Template(pattern, chinese_parts, len(constant_text(parts)), kind))
    return templates


def paired_nodes(node: ast.AST, other: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of two trees that differ only in words. Placeholders may be in another order."""
    yield node, other
    for child, other_child in zip(child_nodes(node), child_nodes(other), strict=True):
        yield from paired_nodes(child, other_child)


def child_nodes(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        return [part.value for part in sorted(values, key=value_key)]
    return ast.iter_child_nodes(node)


def printed_parts(node: ast.AST) -> Iterator[Part]:
    """The parts of the text that a string has or that a call prints."""
    match node:
        case ast.Constant(value=str() as text):
            yield text.strip("\n")  # an output is read line by line
        case ast.JoinedStr(values=values):
            for value in values:
                yield str(value.value) if isinstance(value, ast.Constant) else value
        case ast.Call(func=ast.Name(id="print"), args=arguments, keywords=keywords):
            for index, argument in enumerate(arguments):
                yield from [" "] if index else []
                yield from [*printed_parts(argument)] or [argument]
            if keywords:  # end=" ": the next call prints on the same line
                yield from printed_parts(keywords[0].value)
                yield keywords[0].value


def constant_text(parts: list[Part]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def make_pattern(
    english: list[Part], chinese: list[Part]
) -> tuple[re.Pattern[str], list[str | int]]:
    pattern = "".join(re.escape(each) if isinstance(each, str) else "(.*?)" for each in english)
    values = [value_key(part) for part in english if not isinstance(part, str)]
    parts: list[str | int] = []
    for part in chinese:
        if isinstance(part, str):
            parts.append(part)
        else:
            number = values.index(value_key(part))
            values[number] = ""  # each value is printed once
            parts.append(number + 1)
    return re.compile(pattern), parts


def value_key(part: ast.expr) -> str:
    """A text that is the same for an expression in both languages."""
    return ast.dump(without_words(copy.deepcopy(part)))
