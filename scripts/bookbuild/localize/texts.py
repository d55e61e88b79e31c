"""Finds the words in a snippet: comments, docstrings, messages and labels."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Comments that a program reads
MARKER = re.compile(r"--8<--|fmt:|noqa|type:|pragma|pyrefly|!|@ts-check")
SHAPE = re.compile(r"\([\w\s,.*+/-]*\)")  # (batch, head, n, m)
STRING = re.compile(r"""(?s)\A([a-zA-Z]*)('''|\"\"\"|'|")(.*)\2\Z""")
JSDOC_TAG = re.compile(r"@\w+ \{(?:[^{}]|\{[^{}]*\})*\}(?: \w+)?")
NO_WORDS = re.compile(r"https?://\S+|\\.")  # in a string: addresses, escaped characters
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\\.")
SIGNS = re.compile(r"\}[:,]( |\\n|\Z)")  # in a string with placeholders and no words
WORD = re.compile(r"[A-Za-z]{2}")
MESSAGE_KEYWORDS = ("description", "help", "usage")
Position = tuple[int, int]  # line from 1, column from 0, in characters


class Text(NamedTuple):
    """Words in a snippet, and their source code with quotes, comment signs and indents."""

    kind: str  # comment, docstring, message (printed, raised or formatted), label or signs
    start: Position
    end: Position
    words: str  # each line is a part of a line of the source
    source: str


def find_texts(source: str, suffix: str = ".py") -> list[Text]:
    """All words of a file in its order, except words that stay: section markers, shapes."""
    if suffix == ".js":
        return [*find_javascript_texts(source)]
    return sorted([*find_comments(source), *find_strings(source)], key=lambda text: text.start)


def find_comments(source: str) -> Iterator[Text]:
    """The comments; consecutive lines with nothing but a comment are one text."""
    lines, blocks = source.splitlines(), []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not MARKER.match(token.string.lstrip("# ")):
            row, column = token.start
            is_alone = not lines[row - 1][:column].strip()
            if is_alone and blocks and blocks[-1][-1] == (row - 1, column):
                blocks[-1].append(token.start)
            else:
                blocks.append([token.start] if is_alone else [(0, 0), token.start])
    for block in blocks:
        (first, column), (last, _) = block[-1] if block[0] == (0, 0) else block[0], block[-1]
        words = "\n".join(line[column:].lstrip("# ") for line in lines[first - 1 : last])
        if WORD.search(SHAPE.sub("", words)):
            code = "\n".join([lines[first - 1][column:], *lines[first:last]])
            yield Text("comment", (first, column), (last, len(lines[last - 1])), words, code)


def find_javascript_texts(source: str) -> Iterator[Text]:
    """The comments, without those that have only types, and the messages of errors."""

    from pygments.lexers import JavascriptLexer  # importing it takes a tenth of a second
    from pygments.token import Comment, String

    def position(index: int) -> Position:
        return source.count("\n", 0, index) + 1, index - source.rfind("\n", 0, index) - 1

    message = re.compile(r'new Error\((?:"([^"]*)"|`([^`]*)`)')
    for start, token, code in JavascriptLexer().get_tokens_unprocessed(source):
        if token in Comment and not MARKER.match(code.lstrip("/* ")):
            words = re.sub(r"^ */\*+ ?|^ *\*/$|^ *\* ?|^// | *\*/$", "", code, flags=re.M)
            if WORD.search(SHAPE.sub("", JSDOC_TAG.sub("", words))):
                yield Text("comment", position(start), position(start + len(code)), words, code)
        elif token in String and (match := message.match(source, start - len("new Error("))):
            words, end = match[1] or match[2], match.end()
            yield Text("message", position(start), position(end), words, source[start:end])


def find_strings(source: str) -> Iterator[Text]:
    """The docstrings, and all string constants with a letter outside of placeholders."""
    tree, lines = ast.parse(source), source.splitlines(keepends=True)
    docstrings = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    messages = [*message_nodes(tree)]

    def within(nodes: Sequence[ast.AST], start: Position, end: Position) -> bool:
        return any(
            position(node.lineno, node.col_offset) <= start  # type: ignore[attr-defined]
            and end <= position(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
            for node in nodes
        )

    def position(line: int, offset: int) -> Position:
        return line, len(lines[line - 1].encode()[:offset].decode())

    for start, end in string_ranges(source):
        first, last = lines[start[0] - 1], lines[end[0] - 1]
        text = "".join([*lines[start[0] - 1 : end[0] - 1], last[: end[1]]])[start[1] :]
        match = STRING.match(text)
        assert match, text
        prefix, words = match[1], match[3]
        if within(docstrings, start, end):
            indent = first[: start[1]]
            words = re.sub(rf"^{indent}", "", words.rstrip(), flags=re.M)
            yield Text("docstring", start, end, words, text)
            continue
        is_formatted = "f" in prefix.lower()
        if WORD.search(PLACEHOLDER.sub("", words) if is_formatted else NO_WORDS.sub("", words)):
            is_message = is_formatted or within(messages, start, end)
            yield Text("message" if is_message else "label", start, end, words, text)
        elif is_formatted and SIGNS.search(words):
            yield Text("signs", start, end, words, text)


def string_ranges(source: str) -> Iterator[tuple[Position, Position]]:
    """Start and end of each string token; since Python 3.12 an f-string is several tokens."""
    depth, start = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        if name == "STRING" and not depth:
            yield token.start, token.end
        elif name == "FSTRING_START":
            start = start if depth else token.start
            depth += 1
        elif name == "FSTRING_END":
            depth -= 1
            if not depth:
                yield start, token.end


def message_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """What prints or raises, and the help of a command."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) or (
            isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
        ):
            yield node
        elif isinstance(node, ast.keyword) and node.arg in MESSAGE_KEYWORDS:
            yield node.value
