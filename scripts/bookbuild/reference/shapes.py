"""The tables of the page Shapes, made of what scripts/proofs/shapes.py printed."""

import html
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import headings, list_pages
from bookbuild.pages.sections import read_sections

MODEL = "transformer.py"
# The parts of the page, in the order of the computation; each begins with a function.
PARTS = {
    "vectors": "Transformer.forward",
    "encoder": "Encoder.forward",
    "attention": "MultiHeadAttention.forward",
    "sublayers": "layer_norm",
    "decoder": "Transformer.decode",
    "logits": "Transformer.logits",
}
WORDS = {
    "en": {
        "heads": ("Tensor", "Shape", "Example", "Line", "Statement"),
        "given": "given",
        "kept": ("Name", "Shape", "Numbers", "How many", "Together"),
        "all": "all parameters",
        "buffer": "not learned",
    },
    "zh": {
        "heads": ("张量", "形状", "例子", "行", "语句"),
        "given": "传入",
        "kept": ("名字", "形状", "每个几个数", "几个", "合计"),
        "all": "全部参数",
        "buffer": "不学习",
    },
}


class Section(NamedTuple):
    """A section of the model: its last line as downloaded, and where a page treats it."""

    last: int
    title: str
    target: str


def printed(kind: str) -> list[list[str]]:
    """The rows of a kind that the proof printed; none before it has run."""
    path = paths.GENERATED / "outputs/proofs/shapes.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line.split("\t")[1:] for line in lines if line.startswith(f"{kind}\t")]


def sections(language: str) -> Iterator[Section]:
    """Where each section of the model is shown: the page, and the heading above it."""
    shown = {}
    for page in (each for each in list_pages(language) if not each.is_notebook):
        included = [each for each in page.includes() if each.file == MODEL]
        found = headings(page) if included else []
        for include in included:
            above = [each for each in found if each.line < include.line][-1]
            shown[include.section] = (above.title, f"{page.name}#{above.anchor}")
    last = 0
    for name, text in read_sections(paths.SNIPPETS / MODEL).items():
        last += text.count("\n")
        if name in shown:  # where it isn't, the build tells
            yield Section(last, *shown[name])


def code(text: str, breakable: bool = False) -> str:
    """Code in a cell; breakable may be broken by page_html.py."""
    kind = "" if breakable else ' class="unbroken"'
    return f"<code{kind}>{html.escape(text)}</code>"


def tensors(rows: list[list[str]], where: list[Section], language: str) -> str:
    """A table of tensors, under the functions that they live in."""
    words = WORDS[language]
    heads = "".join(f'<th scope="col">{head}</th>' for head in words["heads"])
    lines = [
        '<div class="shapes" markdown>',
        "<table markdown>",
        f"<thead><tr>{heads}</tr></thead>",
    ]
    for function, members in groupby(rows, key=lambda row: row[0]):
        own = [*members]
        at = next(each for each in where if int(own[0][2]) <= each.last)
        lines.append("<tbody markdown>")
        lines.append(
            f'<tr markdown><th scope="rowgroup" colspan="5" markdown="span">{code(function)} '
            f"[{at.title}]({at.target})</th></tr>"
        )
        for _, name, line, statement, shape, example, dtype in own:
            kind = "" if dtype == "float32" else f" {dtype}"
            cells = [
                code(name),
                f"{code(shape)}{kind}",
                code(example),
                line,
                code(statement, breakable=True) if statement else words["given"],
            ]
            lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>", "</div>", ""])


def kept(language: str) -> str:
    """A table of the parameters, their sum, and the buffers."""
    words = WORDS[language]
    rows: list[tuple[str, ...]] = [words["kept"], ("---", "---", "--:", "--:", "--:")]
    total = 0
    for name, shape, numbers, copies in printed("parameter"):
        together = int(numbers) * int(copies)
        total += together
        rows.append((f"`{name}`", f"`{shape}`", f"{int(numbers):,}", copies, f"{together:,}"))
    rows.append((f"**{words['all']}**", "", "", "", f"**{total:,}**"))
    for name, shape, numbers, copies in printed("buffer"):
        rows.append((f"`{name}`", f"`{shape}`", f"{int(numbers):,}", copies, words["buffer"]))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def tables(language: str) -> dict[str, str]:
    """Each table of the page, by the name under which it is included."""
    rows, parts = printed("tensor"), {}
    if not rows:
        return {}
    functions = [row[0] for row in rows]
    for function in PARTS.values():
        if function not in functions:
            path = paths.SNIPPETS / MODEL
            raise SourceError(path, 1, f"shapes.py begins a part at {function}, never called")
    where = [*sections(language)]
    starts = [functions.index(function) for function in PARTS.values()]
    for name, start, end in zip(PARTS, starts, [*starts[1:], len(rows)], strict=True):
        parts[name] = tensors(rows[start:end], where, language)
    return parts | {"parameters": kept(language)}
