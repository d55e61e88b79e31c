"""The twelve stops of the tour of the page Step through, for readers without JavaScript."""

import functools
import textwrap

import torch
from matplotlib.figure import Figure
from torch import Tensor

from bookbuild.generated.javascript_model import load_trained_translator
from bookbuild.generated.shape_tracer import MODEL_FILE
from bookbuild.pages.sections import downloaded_line
from bookbuild.step_through.model_trace import ReferenceModel, Step
from figures.diagram import ENGLISH, TARGET, WIDTH, blank_canvas, write
from figures.style import INK, KEY, MUTED, QUERY, figure, signed_image

LEFT, ROW = 54, 20
WIDEST = 46  # width of a cell
CODE_WIDTH = 56  # characters
GAP = 44  # above a tensor, for its name and the words of its columns
CODE = {"family": "monospace", "size": 15, "ha": "left"}
LABELS = {
    "en": {"head": "head 0", "line": "line {}"},
    "zh": {"head": "0 号头", "line": "第 {} 行"},
}


@functools.cache
def recorded_steps() -> list[Step]:
    """What PyTorch computes for the book's running example."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    trained = load_trained_translator(rounded=True)
    src, tgt = trained.source.encode(ENGLISH), trained.target.encode(TARGET[1:])
    model = ReferenceModel(None, text, torch.float32)
    return model.trace(src, [trained.target.encode(TARGET[:1])[0], *tgt])


def find_steps(address: str) -> list[Step]:
    """The tensors of a stop, named as in docs/step-through/tour.yml."""
    place, *variable = address.split(":")
    function, _, path = place.partition("@")
    name, nth = (*variable, "1")[:2] if variable else ("", "1")
    found: list[Step] = []
    owner = ""
    for step in recorded_steps():
        owner = step.path or (owner if step.path is None else "")
        if step.function == function and owner == path:
            found.append(step)
    if not name:  # the arguments
        return found[:2]
    return [[step for step in found if step.name == name][int(nth) - 1]]


def draw_stop(address: str, label: dict[str, str]) -> Figure:
    """The line of code, and its tensors as heat maps."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    steps = find_steps(address)
    matrices = [shown_matrix(step.tensor) for step in steps]
    line = steps[0].line
    code, _, _ = text.splitlines()[line - 1].strip().partition("  #")
    lines = textwrap.wrap(code, CODE_WIDTH, subsequent_indent="    ")
    top = 34 + len(lines) * ROW + GAP
    fig, ax = blank_canvas(top - GAP + sum(len(each) * ROW + GAP for each in matrices))
    number = label["line"].format(downloaded_line(text)(line))
    write(ax, 0, 10, number, MUTED, ha="left")
    for i, part in enumerate(lines):
        write(ax, 0, 32 + i * ROW, part, INK, **CODE)
    for step, matrix in zip(steps, matrices, strict=True):
        draw_tensor(ax, step, matrix, top, label)
        top += len(matrix) * ROW + GAP
    return fig


def shown_matrix(tensor: Tensor) -> Tensor:
    """Of the first sentence, and of the first head."""
    while tensor.dim() > 2:
        tensor = tensor[0]
    return tensor.float()


def draw_tensor(ax, step: Step, matrix: Tensor, top: float, label: dict[str, str]) -> None:
    rows, columns = matrix.shape
    shape = ", ".join(map(str, step.tensor.shape))
    head = f" · {label['head']}" if step.tensor.dim() == 4 and step.tensor.size(1) > 1 else ""
    width = min(WIDTH - LEFT, WIDEST * columns)
    text = f"{step.name} ({shape}){head}"
    write(ax, LEFT, top - 28, text, MUTED, ha="left")
    signed_image(
        ax,
        matrix,
        max(matrix.abs().max().item(), 1e-9) * (1e9 if step.tensor.dtype == torch.int64 else 1),
        extent=(LEFT, LEFT + width, top + rows * ROW, top),
    )
    if step.tensor.dim() > 2:
        for i, word in enumerate(words_of(rows)):
            write(ax, LEFT - 5, top + (i + 0.5) * ROW, word, KEY, ha="right")
    if columns < 20:
        for j, word in enumerate(words_of(columns)):
            x = LEFT + (j + 0.5) * width / columns
            write(ax, x, top - 9, word, QUERY)
            for i in range(rows):
                write_number(ax, x, top + (i + 0.5) * ROW, matrix[i, j].item())


def words_of(count: int) -> list[str]:
    return ENGLISH if count == len(ENGLISH) else TARGET


def write_number(ax, x: float, y: float, value: float) -> None:
    text = f"{value:.0f}" if value == round(value) else f"{value:.2f}".replace("-", "−")
    write(ax, x, y, text)


@figure(**LABELS)
def ids(label):
    return draw_stop("Transformer.forward", label)


@figure(**LABELS)
def embeddings(label):
    return draw_stop("TokenEmbedding.forward@src_embedding:return", label)


@figure(**LABELS)
def positions(label):
    return draw_stop("PositionalEncoding.forward@position:return", label)


@figure(**LABELS)
def norm(label):
    return draw_stop("LayerNorm.forward@encoder.layers.0.norm1:return", label)


@figure(**LABELS)
def queries(label):
    return draw_stop("MultiHeadAttention.forward@encoder.layers.0.self_attention:q", label)


@figure(**LABELS)
def scores(label):
    return draw_stop("scaled_dot_product_attention@encoder.layers.0.self_attention:scores:2", label)


@figure(**LABELS)
def weights(label):
    return draw_stop("scaled_dot_product_attention@encoder.layers.0.self_attention:weights", label)


@figure(**LABELS)
def feed_forward(label):
    return draw_stop("FeedForward.forward@encoder.layers.0.feed_forward:hidden", label)


@figure(**LABELS)
def memory(label):
    return draw_stop("Transformer.forward:memory", label)


@figure(**LABELS)
def mask(label):
    return draw_stop("Transformer.decode:mask:2", label)


@figure(**LABELS)
def cross_attention(label):
    return draw_stop("scaled_dot_product_attention@decoder.layers.1.cross_attention:weights", label)


@figure(**LABELS)
def logits(label):
    return draw_stop("Transformer.forward:return", label)
