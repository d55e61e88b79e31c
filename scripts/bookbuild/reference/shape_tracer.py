"""Records every tensor that the model computes between ids and logits, by tracing it.

Each variable that holds a tensor in a function of snippets/transformer.py is one table row, and
so is an unnamed result of a function. A traced run whose sizes are all different gives the shapes
in symbols; every call of that run, and of runs with other sizes, is checked against them.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import Tensor

import transformer
from bookbuild.pages.files import line_number
from bookbuild.pages.sections import SECTION_MARKER
from transformer import Transformer, TransformerConfig

MODEL_FILE = Path(transformer.__file__)
SOURCE, TARGET = "m", "n"  # sequence lengths; in attention those of keys and of queries


class Variable(NamedTuple):
    """A variable of a function, and the line of the statement that assigns it."""

    function: str  # MultiHeadAttention.forward
    name: str  # return for an unnamed result
    line: int


class Sizes(NamedTuple):
    """The sizes of a run's inputs and model."""

    batch: int
    source: int
    target: int
    config: TransformerConfig

    def symbols(self) -> dict[str, int]:
        """The size of each symbol."""
        config = self.config
        return {
            "b": self.batch,
            SOURCE: self.source,
            TARGET: self.target,
            "d": config.d_model,
            "h": config.nhead,
            "d/h": config.d_model // config.nhead,
            "f": config.dim_feedforward,
            "V_src": config.src_vocab_size,
            "V_tgt": config.tgt_vocab_size,
            "max_len": config.max_len,
        }


CallTensors = dict[Variable, Tensor]  # of one call of a function
Symbols = tuple[str, ...]  # a shape in symbols


def make_sizes(
    batch: int, source: int, target: int, vocabularies: tuple[int, int], **config
) -> Sizes:
    return Sizes(batch, source, target, TransformerConfig(*vocabularies, **config))


# A size identifies its symbol only if no two are equal and none is 1.
TWO_LAYERS = {"num_encoder_layers": 2, "num_decoder_layers": 2}
DISTINCT_SIZES = make_sizes(
    3, 7, 11, (13, 19), d_model=20, nhead=4, dim_feedforward=17, max_len=23, **TWO_LAYERS
)
OTHER_SIZES = [
    make_sizes(
        5, 11, 7, (19, 23), d_model=26, nhead=2, dim_feedforward=17, max_len=29, **TWO_LAYERS
    ),
    make_sizes(1, 1, 4, (6, 5), d_model=4, nhead=1, dim_feedforward=4, max_len=4, **TWO_LAYERS),
]
# The running example, "why do we work ?" and "we work", in the base model.
# All layers are alike, so one of each kind is enough.
EXAMPLE_SIZES = make_sizes(2, 5, 9, (9, 12), num_encoder_layers=1, num_decoder_layers=1)


def statement_lines(path: Path = MODEL_FILE) -> dict[int, int]:
    """For each line of the file, the first line of the innermost statement that contains it."""
    first_lines: dict[int, int] = {}
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.stmt)]
    for node in sorted(nodes, key=lambda node: node.lineno):
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            first_lines[line] = node.lineno  # an inner statement overwrites the outer one
    return first_lines


def function_nodes(path: Path = MODEL_FILE) -> dict[str, ast.FunctionDef]:
    """The functions of the file by qualified name, without <locals>."""
    nodes: dict[str, ast.FunctionDef] = {}

    def walk(parent: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                name = f"{prefix}{child.name}"
                if isinstance(child, ast.FunctionDef):
                    nodes[name] = child
                walk(child, f"{name}.")

    walk(ast.parse(path.read_bytes()), "")
    return nodes


class ShapeTracer:
    """A trace function for sys.settrace that records the tensors of each call in the file."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, CallTensors]] = []
        self.statement_lines = statement_lines()
        self.parameter_lines = {
            name: {arg.arg: arg.lineno for arg in node.args.args}
            for name, node in function_nodes().items()
        }

    def __call__(self, frame: FrameType, event: str, arg: Any):
        if frame.f_code.co_filename != str(MODEL_FILE) or "<" in frame.f_code.co_name:
            return None
        function = frame.f_code.co_qualname.replace(".<locals>", "")
        tensors: CallTensors = {}
        self.calls.append((function, tensors))
        previous: dict[str, Any] = {}
        line = 0

        def trace_line(frame: FrameType, event: str, arg: Any):
            nonlocal line
            is_first = not previous
            for name, value in frame.f_locals.items():
                is_new = isinstance(value, Tensor) and previous.get(name) is not value
                if is_new and name not in frame.f_code.co_freevars:
                    assigned = self.parameter_lines[function][name] if is_first else line
                    tensors[Variable(function, name, assigned)] = value
            previous.update(frame.f_locals, **{"": None})
            line = self.statement_lines[frame.f_lineno]
            if event == "return":
                named = {id(value) for value in previous.values()}
                for value in arg if isinstance(arg, tuple) else (arg,):
                    if isinstance(value, Tensor) and id(value) not in named:
                        tensors[Variable(function, "return", line)] = value
            return trace_line

        return trace_line(frame, event, arg)


@contextmanager
def explicit_and_fused() -> Iterator[None]:
    """Lets the model call the explicit attention and LayerNorm before the fused ones."""
    fused, forward = transformer.fused_attention, transformer.LayerNorm.forward

    def attend(*args: Any) -> tuple[Tensor, Tensor]:
        _, weights = transformer.scaled_dot_product_attention(*args)
        return fused(*args)[0], weights

    def normalize(self: transformer.LayerNorm, x: Tensor) -> Tensor:
        transformer.layer_norm(x, self.weight, self.bias, self.eps)
        return forward(self, x)

    with (
        mock.patch.object(transformer, "fused_attention", attend),
        mock.patch.object(transformer.LayerNorm, "forward", normalize),
    ):
        yield


def trace_model(sizes: Sizes) -> list[tuple[str, CallTensors]]:
    """The name and tensors of each function call between ids and logits, in order."""
    config = sizes.config
    with torch.random.fork_rng(devices=[]):
        model = Transformer(TransformerConfig(**{**vars(config), "tie_embeddings": True})).eval()
    src = torch.ones(sizes.batch, sizes.source, dtype=torch.int64)
    tgt = torch.ones(sizes.batch, sizes.target, dtype=torch.int64)
    tracer, previous = ShapeTracer(), sys.gettrace()
    with explicit_and_fused(), torch.no_grad():
        sys.settrace(tracer)
        try:
            model(src, tgt)
        finally:
            sys.settrace(previous)
    return tracer.calls


def functions_with_result() -> list[str]:
    """The functions of the file that return something; check_mask, for one, does not."""
    return [
        name
        for name, node in function_nodes().items()
        if node.returns is not None and ast.unparse(node.returns) != "None"
    ]


def most_specific_call(calls: list[CallTensors]) -> CallTensors:
    """The last call with both sequence lengths; else with the target's, the source's, or any."""

    def score(call: CallTensors) -> int:
        sizes = {size for tensor in call.values() for size in tensor.shape}
        return 2 * (DISTINCT_SIZES.target in sizes) + (DISTINCT_SIZES.source in sizes)

    best = max(map(score, calls))
    return [call for call in calls if score(call) == best][-1]


def symbolic_shapes() -> dict[Variable, Symbols]:
    """Every variable with its shape in symbols, in the order of the computation.

    1|n is an axis of size 1 in some calls, such as a mask's axis to be broadcast.
    Raises ValueError if two sizes of DISTINCT_SIZES are equal.
    """
    symbol_of = {size: name for name, size in DISTINCT_SIZES.symbols().items()} | {1: "1"}
    if len(symbol_of) <= len(DISTINCT_SIZES.symbols()):
        raise ValueError("two sizes are equal; choose different ones for DISTINCT_SIZES")
    calls = trace_model(DISTINCT_SIZES)
    shapes: dict[Variable, Symbols] = {}
    with_result = functions_with_result()
    called = dict.fromkeys(function for function, _ in calls if function in with_result)
    for function in called:
        own_calls = [call for name, call in calls if name == function]
        for variable, tensor in most_specific_call(own_calls).items():
            shape = [symbol_of[size] for size in tensor.shape]
            for axis, size in enumerate(tensor.shape):
                sizes = {call[variable].shape[axis] for call in own_calls if variable in call}
                if size == 1 and sizes != {1}:  # the length that is not on another axis
                    shape[axis] = f"1|{TARGET if SOURCE in shape else SOURCE}"
            shapes[variable] = tuple(shape)
    return shapes


def shape_mismatches(shapes: dict[Variable, Symbols], sizes: Sizes) -> Iterator[str]:
    """Messages for the tensors of a run that don't have the shape of their symbols.

    m and n may be any lengths, but must be the same in all tensors of a call.
    """
    with_result = functions_with_result()
    for function, call in trace_model(sizes):
        if function not in with_result:
            continue
        known = sizes.symbols() | {"1": 1}
        del known[SOURCE], known[TARGET]
        for variable, tensor in call.items():
            symbols, shape = shapes.get(variable), tuple(tensor.shape)
            if symbols is None:
                yield f"{function}: {variable.name} of line {variable.line} is not in the table"
            elif not matches_symbols(symbols, shape, known):
                yield f"{function}: {variable.name} is {shape}, not ({', '.join(symbols)})"


def matches_symbols(symbols: Symbols, shape: tuple[int, ...], known: dict[str, int]) -> bool:
    """Whether a shape is that of the symbols. Adds the sizes of unknown symbols to known."""
    for symbol, size in zip_longest(symbols, shape, fillvalue=None):
        if symbol is None or size is None:
            return False
        first, _, alternative = symbol.partition("|")
        if not (alternative and size == 1) and known.setdefault(alternative or first, size) != size:
            return False
    return True


def example_tensors(shapes: dict[Variable, Symbols]) -> dict[Variable, Tensor]:
    """Every variable's tensor in the running example, from a call with the m and n of its own."""
    tensors: dict[Variable, Tensor] = {}
    for _, call in trace_model(EXAMPLE_SIZES):
        known = EXAMPLE_SIZES.symbols() | {"1": 1}
        if all(
            matches_symbols(shapes.get(variable, ()), tuple(tensor.shape), known)
            for variable, tensor in call.items()
        ):
            tensors |= call
    return tensors


class TensorRow(NamedTuple):
    """A row of the table of tensors."""

    function: str
    name: str
    line: int  # of the file as readers download it
    code: str  # the statement; empty for an argument
    shape: str
    example: str
    dtype: str


def tensor_rows(shapes: dict[Variable, Symbols]) -> Iterator[TensorRow]:
    """The rows of the table of tensors, for bookbuild.reference.shapes."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    marker_lines = [line_number(text, match.start()) for match in SECTION_MARKER.finditer(text)]
    statements = {
        node.lineno: join_lines(ast.get_source_segment(text, node) or "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.Return)
    }
    tensors = example_tensors(shapes)
    for variable, symbols in shapes.items():
        tensor = tensors[variable]
        yield TensorRow(
            variable.function,
            variable.name,
            variable.line - sum(line < variable.line for line in marker_lines),
            statements.get(variable.line, ""),
            format_shape(symbols),
            format_shape(tensor.shape),
            str(tensor.dtype).removeprefix("torch."),
        )


def join_lines(code: str) -> str:
    """A statement on one line."""
    return re.sub(r"(?<=\() |,? (?=\))", "", " ".join(code.split()))


def format_shape(sizes: Iterable[object]) -> str:
    """A shape as Python writes it: (2, 5), and (512,) for one axis."""
    texts = [*map(str, sizes)]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


LAYER = re.compile(r"layers\.\d+")
SIBLING = re.compile(r"(?<=attention\.)(?:query|key|value|output)|(?<=residuals\.)\d+")


class ParameterGroup(NamedTuple):
    """Parameters of the same shape: common name, shape in symbols, size of each, and count."""

    name: str
    shape: str
    size: int
    copies: int


NamedTensors = Iterable[tuple[str, Tensor]]


def group_parameters(tensors: NamedTensors, distinct: NamedTensors) -> Iterator[ParameterGroup]:
    """Groups tensors whose names differ only by layer or sibling.

    distinct: those of the model with DISTINCT_SIZES, for the shapes in symbols.
    """
    symbol_of = {size: name for name, size in DISTINCT_SIZES.symbols().items()}
    symbols = {name: [symbol_of[size] for size in tensor.shape] for name, tensor in distinct}
    groups: dict[str, list[tuple[str, Tensor]]] = {}
    for name, tensor in tensors:
        key = SIBLING.sub("*", LAYER.sub("layers.*", name))
        groups.setdefault(key, []).append((name, tensor))
    for members in groups.values():
        first_name, tensor = members[0]
        siblings = dict.fromkeys(s for name, _ in members for s in SIBLING.findall(name))
        layers = dict.fromkeys(s for name, _ in members for s in LAYER.findall(name))
        common = first_name
        if len(siblings) > 1:
            common = SIBLING.sub(f"{{{','.join(siblings)}}}", common)
        if layers:
            common = LAYER.sub(f"layers.{{0…{len(layers) - 1}}}", common)
        shape = format_shape(symbols[LAYER.sub("layers.0", first_name)])
        yield ParameterGroup(common, shape, tensor.numel(), len(members))


def parameters_and_buffers(
    vocabulary: int,
) -> tuple[list[ParameterGroup], list[ParameterGroup]]:
    """The grouped parameters and buffers of the base model."""
    with torch.device("meta"):
        base = Transformer(TransformerConfig(vocabulary, vocabulary))
        distinct = Transformer(DISTINCT_SIZES.config)
    parameters = [*group_parameters(base.named_parameters(), distinct.named_parameters())]
    buffers = [*group_parameters(base.named_buffers(), distinct.named_buffers())]
    return parameters, buffers
