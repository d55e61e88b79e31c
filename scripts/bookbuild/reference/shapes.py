"""The tables of the page Shapes, from the output of scripts/proofs/shapes.py."""

import html
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import headings, list_pages
from bookbuild.pages.sections import read_sections

MODEL_FILE = "transformer.py"
# The parts of the page in the order of the computation, each with its first function.
FIRST_FUNCTIONS = {
    "vectors": "Transformer.forward",
    "encoder": "Encoder.forward",
    "attention": "MultiHeadAttention.forward",
    "sublayers": "layer_norm",
    "decoder": "Transformer.decode",
    "logits": "Transformer.logits",
}
LABELS = {
    "en": {
        "tensor_columns": ("Tensor", "Shape", "Example", "Line", "Statement"),
        "argument": "given",
        "parameter_columns": ("Name", "Shape", "Numbers", "How many", "Together"),
        "total": "all parameters",
        "buffer": "not learned",
    },
    "zh": {
        "tensor_columns": ("张量", "形状", "例子", "行", "语句"),
        "argument": "传入",
        "parameter_columns": ("名字", "形状", "每个几个数", "几个", "合计"),
        "total": "全部参数",
        "buffer": "不学习",
    },
}


class ModelSection(NamedTuple):
    """A section of the model: its last line as downloaded, and the heading that shows it."""

    last_line: int
    title: str
    link: str


def proof_rows(kind: str) -> list[list[str]]:
    """The rows of a kind (tensor, parameter, buffer) in the proof's output, if it has run."""
    path = paths.GENERATED / "outputs/proofs/shapes.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line.split("\t")[1:] for line in lines if line.startswith(f"{kind}\t")]


def model_sections(language: str) -> Iterator[ModelSection]:
    """The sections of the model that a page shows, in the order of the file."""
    shown = {}
    for page in (page for page in list_pages(language) if not page.is_notebook):
        includes = [include for include in page.includes() if include.file == MODEL_FILE]
        page_headings = headings(page.text) if includes else []
        for include in includes:
            heading = [heading for heading in page_headings if heading.line < include.line][-1]
            shown[include.section] = (heading.title, f"{page.name}#{heading.anchor}")
    last_line = 0
    for name, text in read_sections(paths.SNIPPETS / MODEL_FILE).items():
        last_line += text.count("\n")
        if name in shown:  # check.includes reports a section that no page shows
            yield ModelSection(last_line, *shown[name])


def code_html(code: str, breakable: bool = False) -> str:
    """Code in a table cell; page_html.py adds line break opportunities if it is breakable."""
    attribute = "" if breakable else ' class="nowrap"'
    return f"<code{attribute}>{html.escape(code)}</code>"


def tensor_table(rows: list[list[str]], sections: list[ModelSection], language: str) -> str:
    """A table of tensors, grouped by function."""
    labels = LABELS[language]
    heads = "".join(f'<th scope="col">{head}</th>' for head in labels["tensor_columns"])
    lines = [
        '<div class="shapes" markdown>',
        "<table markdown>",
        f"<thead><tr>{heads}</tr></thead>",
    ]
    for function, group in groupby(rows, key=lambda row: row[0]):
        function_rows = [*group]
        first_line = int(function_rows[0][2])
        section = next(section for section in sections if first_line <= section.last_line)
        lines.append("<tbody markdown>")
        lines.append(
            '<tr markdown><th scope="rowgroup" colspan="5" markdown="span">'
            f"{code_html(function)} [{section.title}]({section.link})</th></tr>"
        )
        for _, name, line, statement, shape, example, dtype in function_rows:
            dtype_note = "" if dtype == "float32" else f" {dtype}"
            cells = [
                code_html(name),
                f"{code_html(shape)}{dtype_note}",
                code_html(example),
                line,
                code_html(statement, breakable=True) if statement else labels["argument"],
            ]
            lines.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>", "</div>", ""])


def parameter_table(language: str) -> str:
    """A table of the parameters, their total, and the buffers."""
    labels = LABELS[language]
    rows: list[tuple[str, ...]] = [labels["parameter_columns"], ("---", "---", "--:", "--:", "--:")]
    total = 0
    for name, shape, size, count in proof_rows("parameter"):
        product = int(size) * int(count)
        total += product
        rows.append((f"`{name}`", f"`{shape}`", f"{int(size):,}", count, f"{product:,}"))
    rows.append((f"**{labels['total']}**", "", "", "", f"**{total:,}**"))
    for name, shape, size, count in proof_rows("buffer"):
        rows.append((f"`{name}`", f"`{shape}`", f"{int(size):,}", count, labels["buffer"]))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def shape_tables(language: str) -> dict[str, str]:
    """The tables of the page by the name under which it includes them; none before the proof ran.

    Raises SourceError if the model never calls the first function of a part.
    """
    rows = proof_rows("tensor")
    if not rows:
        return {}
    functions = [row[0] for row in rows]
    for part, function in FIRST_FUNCTIONS.items():
        if function not in functions:
            message = f"the model never calls {function}; correct the part {part} in shapes.py"
            raise SourceError(paths.SNIPPETS / MODEL_FILE, 1, message)
    sections = [*model_sections(language)]
    starts = [functions.index(function) for function in FIRST_FUNCTIONS.values()]
    tables = {
        name: tensor_table(rows[start:end], sections, language)
        for name, start, end in zip(FIRST_FUNCTIONS, starts, [*starts[1:], len(rows)], strict=True)
    }
    return tables | {"parameters": parameter_table(language)}
