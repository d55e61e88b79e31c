"""The worksheet of the page By hand: the tables of its sentence, some rows to be filled in."""

import itertools
from typing import Any, NamedTuple

from bookbuild.generated.pencil_steps import PARTS, Step, split_name, steps, text, translation
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.templates import render

ENCODER, DECODER = "encoder.layers.0", "decoder.layers.0"
READER_ROWS = {"encoder": 3, "decoder": 2}  # which row of a table is the reader's
ENCODER_TASKS = (
    *("src.embedding", "src.sum"),
    *(f"{ENCODER}.self_attention.{name}" for name in ("query", "scores.0", "weights.0")),
    *(f"{ENCODER}.self_attention.{name}" for name in ("heads", "output")),
    *(f"{ENCODER}.norm1.{name}" for name in ("sum", "mean", "centered", "deviation")),
    f"{ENCODER}.norm1",
    *(f"{ENCODER}.feed_forward.{name}" for name in ("linear1", "relu", "linear2")),
)
DECODER_TASKS = (
    *(f"{DECODER}.cross_attention.{name}" for name in ("query", "scores.0", "weights.0")),
    *(f"{DECODER}.cross_attention.{name}" for name in ("heads", "output")),
    *("logits", "probabilities"),
)
TASKS = ENCODER_TASKS + DECODER_TASKS
GROUPS = {  # results that are one table
    **dict.fromkeys(("embedding", "position", "linear1", "relu", "linear2"), "part"),
    **dict.fromkeys(("sum", "mean", "centered", "deviation", "norm"), "part"),
    **dict.fromkeys(("query", "key", "value"), "projections"),
    **dict.fromkeys(("scores", "weights"), "weights"),
    **dict.fromkeys(("heads", "output"), "output"),
}
SYMBOLS = {r"\mu": "μ", r"\sigma": "σ"}  # as the title of one column
WEIGHTS = {  # that a task needs
    "query": "W^Q | b^Q",
    "output": "W^O | b^O",
    "linear1": "W₁ | b₁",
    "linear2": "W₂ | b₂",
    "logits": "W^out",
}


class Weights(NamedTuple):
    """Weights that a task needs."""

    symbol: str
    labels: list[str]  # of the rows
    rows: list[list[str]]
    has_bias: bool  # in the last column


class Group(NamedTuple):
    """The columns of a table that come from one step."""

    name: str
    title: str
    columns: list[str]
    width: int  # in columns
    example: str  # an equation of the row that the page computes in full, if it is a task

    @property
    def is_task(self) -> bool:
        return self.name in TASKS


class Row(NamedTuple):
    word: str
    kind: str  # given, example or task
    cells: list[list[str]]  # of each group


class Table(NamedTuple):
    """Steps side by side."""

    groups: list[Group]
    rows: list[Row]


class Part(NamedTuple):
    """A part of the model with its tables."""

    title: str
    weights: list[Weights]
    tables: list[Table]


def make_table(found: list[Step]) -> Table:
    """Steps with the same words as one table."""
    first, names = found[0], {step.name for step in found}
    reader = READER_ROWS["encoder" if names & {*ENCODER_TASKS} else "decoder"]
    groups = [
        Group(
            step.name,
            SYMBOLS.get(step.formula, step.title),
            step.columns,
            len(step.values[0]),
            example(step) if step.name in TASKS else "",
        )
        for step in found
    ]
    rows = []
    for i, word in enumerate(first.rows):
        is_task = i == reader and bool(names & {*TASKS})
        kind = "task" if is_task else "example" if i == first.worked else "given"
        rows.append(Row(word, kind, [[text(value) for value in step.values[i]] for step in found]))
    return Table(groups, rows)


def make_tables(found: list[Step]) -> list[Table]:
    """The tables of a part: what has the same words and belongs together is one table."""

    def kind(step: Step) -> tuple:
        result = split_name(step.name)[1].partition(".")[0]
        return GROUPS.get(result, result), step.rows

    return [make_table([*steps]) for _, steps in itertools.groupby(found, kind)]


def example(step: Step) -> str:
    """The most informative equation of the row that is computed in full."""
    result = split_name(step.name)[1].partition(".")[0]
    if result not in ("weights", "probabilities"):
        return max(step.arithmetic, key=len)
    *_, exponential = [line for line in step.arithmetic if line.startswith("e^")]
    return f"{exponential}; {step.arithmetic[-1]}"


def needed_weights(model: Any, part: str, found: list[Step]) -> list[Weights]:
    """The weights that the tasks of a part need."""
    listed = []
    for step in found:
        result = split_name(step.name)[1]
        if step.name not in TASKS:
            continue
        if result == "embedding":
            vocabulary = model.source if part == "src" else model.target
            matrix = model.weights[f"{part}_embedding.embedding.weight"]
            rows = [matrix[vocabulary.index(word)] for word in step.rows]
            listed.append(weights("E", rows, labels=step.rows))
        elif result == "norm":
            rows = [model.weights[f"{part}.{kind}"] for kind in ("weight", "bias")]
            listed.append(weights("", rows, labels=["γ", "β"]))
        elif result == "logits":
            listed.append(weights("W^out", model.weights["output.weight"], labels=model.target))
        elif result in WEIGHTS:
            rows = model.weights[f"{step.name}.weight"]
            bias = model.weights[f"{step.name}.bias"]
            listed.append(weights(WEIGHTS[result], rows, bias))
    return listed


def weights(
    symbol: str,
    rows: list[list[int]],
    bias: list[int] | None = None,
    labels: list[str] | None = None,
) -> Weights:
    joined = [[*row, bias[i]] if bias else row for i, row in enumerate(rows)]
    shown = [[text(value) for value in row] for row in joined]
    return Weights(symbol, labels or [""] * len(rows), shown, bool(bias))


def parts(language: str) -> list[Part]:
    """The parts of the model with the weights that their tasks need."""
    model, which = translation(), LANGUAGES.index(language)
    by_part: dict[str, list[Step]] = {}
    for step in steps(language):
        by_part.setdefault(split_name(step.name)[0], []).append(step)
    return [
        Part(PARTS[part][which], needed_weights(model, part, found), make_tables(found))
        for part, found in by_part.items()
    ]


def worksheet_html(language: str, **values: str) -> str:
    """The worksheet, and the same sheets with solutions, as one document."""
    probabilities = next(step for step in steps(language) if step.name == "probabilities")
    row = READER_ROWS["decoder"]
    best = max(range(len(probabilities.columns)), key=probabilities.values[row].__getitem__)
    return render(
        "worksheet.html",
        language,
        parts=parts(language),
        task_word=probabilities.rows[row],
        next_word=probabilities.columns[best],
        **values,
    )
