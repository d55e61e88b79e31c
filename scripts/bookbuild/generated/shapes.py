"""The tables of the page Shapes, from the output of scripts/proofs/shapes.py."""

from collections.abc import Iterator
from itertools import groupby

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import Include, list_includes
from bookbuild.pages.sections import read_sections
from bookbuild.pages.templates import render

MODEL_FILE = "transformer.py"
# The parts of the page in the order of the computation, each with its first function.
FIRST_FUNCTIONS = {
    "vectors": "Transformer.forward",
    "encoder": "Encoder.forward",
    "attention": "MultiHeadAttention.forward",
    "sublayers": "LayerNorm.forward",
    "decoder": "Transformer.decode",
    "logits": "Transformer.logits",
}


def proof_rows(kind: str) -> list[list[str]]:
    """The rows of a kind (tensor, parameter, buffer) in the proof's output, if it has run."""
    path = paths.GENERATED / "outputs/proofs/shapes.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line.split("\t")[1:] for line in lines if line.startswith(f"{kind}\t")]


def model_sections(language: str) -> Iterator[tuple[int, Include]]:
    """The sections of the model that a page shows, each after its last line as downloaded."""
    shown = {each.section: each for each in list_includes(language) if each.file == MODEL_FILE}
    last_line = 0
    for name, text in read_sections(paths.SNIPPETS / MODEL_FILE).items():
        last_line += text.count("\n")
        if name in shown:  # check.includes reports a section that no page shows
            yield last_line, shown[name]


def shape_tables(language: str) -> dict[str, str]:
    """The tables of the page by the name under which it includes them; none before the proof ran.

    Raises SourceError if the model never calls the first function of a part.
    """
    rows = proof_rows("tensor")
    if not rows:
        return {}
    sections = [*model_sections(language)]
    parts = {function: part for part, function in FIRST_FUNCTIONS.items()}
    groups: dict[str, list] = {}  # by part: each function with its section and its rows
    part = "vectors"
    for function, group in groupby(rows, key=lambda row: row[0]):
        part = parts.get(function, part)
        function_rows = [*group]
        first_line = int(function_rows[0][2])
        section = next(section for last_line, section in sections if first_line <= last_line)
        groups.setdefault(part, []).append((function, section, function_rows))
    for part in FIRST_FUNCTIONS.keys() - groups.keys():
        message = f"the model never calls {FIRST_FUNCTIONS[part]}"
        hint = f"correct the part {part} in shapes.py"
        raise SourceError(paths.SNIPPETS / MODEL_FILE, 1, f"{message}; {hint}")
    tables = {part: render("tensors.md", language, groups=each) for part, each in groups.items()}
    parameters, buffers = proof_rows("parameter"), proof_rows("buffer")
    text = render("parameters.md", language, parameters=parameters, buffers=buffers)
    return tables | {"parameters": text}
