"""The worksheet of the page By hand: the tables of its sentence, some rows to be filled in."""

import itertools
from collections.abc import Iterator
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
TITLES = {r"\mu": "μ", r"\sigma": "σ"}  # of one column, by its formula
SYMBOLS = {  # of weights that a task needs
    "query": "W^Q | b^Q",
    "output": "W^O | b^O",
    "linear1": "W₁ | b₁",
    "linear2": "W₂ | b₂",
}


class Weights(NamedTuple):
    """Weights that a task needs."""

    symbol: str
    rows: list[list[int]]
    labels: list[str]  # of the rows
    biases: list[int]  # one more column


class Table(NamedTuple):
    """Steps with the same words side by side."""

    steps: list[Step]
    kinds: list[str]  # of the rows: given, example or task
    examples: list[str]  # an equation for each task


class Part(NamedTuple):
    """A part of the model with its tables."""

    title: str
    weights: list[Weights]
    tables: list[Table]


def make_table(found: list[Step]) -> Table:
    """Steps with the same words as one table."""
    names = {step.name for step in found}
    kinds = ["given"] * len(found[0].rows)
    kinds[found[0].worked] = "example"
    if names & {*TASKS}:
        kinds[READER_ROWS["encoder" if names & {*ENCODER_TASKS} else "decoder"]] = "task"
    return Table(found, kinds, [example(step) for step in found if step.name in TASKS])


def make_tables(found: list[Step]) -> list[Table]:
    """The tables of a part: what has the same words and belongs together is one table."""

    def kind(step: Step) -> tuple:
        result = split_name(step.name)[1].partition(".")[0]
        return GROUPS.get(result, result), step.rows

    return [make_table([*steps]) for _, steps in itertools.groupby(found, kind)]


def example(step: Step) -> str:
    """The most informative equation of the row that the page computes in full."""
    result = split_name(step.name)[1].partition(".")[0]
    if result not in ("weights", "probabilities"):
        return max(step.arithmetic, key=len)
    *_, exponential = [line for line in step.arithmetic if line.startswith("e^")]
    return f"{exponential}; {step.arithmetic[-1]}"


def needed_weights(model: Any, part: str, found: list[Step]) -> Iterator[Weights]:
    """The weights that the tasks of a part need."""
    for step in found:
        result = split_name(step.name)[1]
        if step.name not in TASKS:
            continue
        if result == "embedding":
            vocabulary = model.source if part == "src" else model.target
            matrix = model.weights[f"{part}_embedding.embedding.weight"]
            yield Weights(
                "E", [matrix[vocabulary.index(word)] for word in step.rows], step.rows, []
            )
        elif result == "norm":
            rows = [model.weights[f"{part}.{kind}"] for kind in ("weight", "bias")]
            yield Weights("", rows, ["γ", "β"], [])
        elif result == "logits":
            yield Weights("W^out", model.weights["output.weight"], model.target, [])
        elif result in SYMBOLS:
            weights, biases = (model.weights[f"{step.name}.{kind}"] for kind in ("weight", "bias"))
            yield Weights(SYMBOLS[result], weights, [], biases)


def parts(language: str) -> list[Part]:
    """The parts of the model with the weights that their tasks need."""
    model, which = translation(), LANGUAGES.index(language)
    by_part: dict[str, list[Step]] = {}
    for step in steps(language):
        by_part.setdefault(split_name(step.name)[0], []).append(step)
    return [
        Part(PARTS[part][which], [*needed_weights(model, part, found)], make_tables(found))
        for part, found in by_part.items()
    ]


def worksheet_html(language: str, **values: str) -> str:
    """The worksheet, and the same sheets with solutions, as one document."""
    probabilities, row = steps(language)[-1], READER_ROWS["decoder"]
    _, next_word = max(zip(probabilities.values[row], probabilities.columns, strict=True))
    return render(
        "worksheet.html",
        language,
        parts=parts(language),
        tasks=TASKS,
        titles=TITLES,
        text=text,
        task_word=probabilities.rows[row],
        next_word=next_word,
        **values,
    )
