"""Records every tensor that the model computes between ids and logits.

Each argument and variable that holds a tensor in a function of snippets/transformer.py is one
table row, and so is an unnamed result of a function. The functions record them when they run in
a copy of the module with calls of a CallRecord added. The size of an axis in a run in which no
two sizes are equal identifies its symbol. Runs with other sizes then check the symbols.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

import transformer
from bookbuild.pages.sections import downloaded_line
from transformer import Transformer, TransformerConfig

MODEL_FILE = Path(transformer.__file__)
SOURCE_LENGTH, TARGET_LENGTH = "m", "n"  # sequence lengths; in attention of keys and of queries
SYMBOLS = ("b", SOURCE_LENGTH, TARGET_LENGTH, "d", "h", "d/h", "f", "V_src", "V_tgt", "max_len")

Sizes = dict[str, int]  # by symbol


class Variable(NamedTuple):
    """A variable of a function, and the line of the statement that assigns it."""

    function: str  # MultiHeadAttention.forward
    name: str  # return for an unnamed result
    line: int


CallShapes = dict[Variable, tuple[str, ...]]  # in symbols


def make_sizes(*sizes: int) -> Sizes:
    """The sizes of a run by symbol, in the order of the table of letters."""
    return dict(zip(SYMBOLS, sizes, strict=True))


# A size identifies its symbol only if no two are equal and none is 1.
DISTINCT_SIZES = make_sizes(3, 7, 11, 20, 4, 5, 17, 13, 19, 23)
OTHER_SIZES = [
    make_sizes(5, 11, 7, 26, 2, 13, 17, 19, 23, 29),
    make_sizes(1, 1, 4, 4, 1, 4, 4, 6, 5, 4),
]
# The running example, "why do we work ?" and "we work", in the base model.
EXAMPLE_SIZES = make_sizes(2, 5, 9, 512, 8, 64, 2048, 9, 12, 5000)


class Step(NamedTuple):
    """A tensor that a line computes, or an argument."""

    call: "CallRecord"
    function: str
    path: str | None  # of the module, if it has one; None for a function without self
    name: str
    line: int  # in the file with its markers
    tensor: Tensor


class CallRecord:
    """Adds the tensors of one call of a function to the steps of all calls."""

    def __init__(self, steps: list[Step], function: str):
        self.steps = steps
        self.function = function
        self.path: str | None = None
        self.named: dict[str, Tensor] = {}
        self.tensors: dict[Variable, Tensor] = {}  # of variables that get another tensor

    def assign(self, name: str, line: int, value: object) -> None:
        if name == "self":
            self.path = getattr(value, "path", None)
        elif isinstance(value, Tensor):
            self.steps.append(Step(self, self.function, self.path, name, line, value))
            if self.named.get(name) is not value:
                self.tensors[Variable(self.function, name, line)] = value
            self.named[name] = value

    def result(self, line: int, value: Any) -> Any:
        for part in value if isinstance(value, tuple) else (value,):
            names = (name for name, tensor in self.named.items() if tensor is part)
            self.assign(next(names, "return"), line, part)
        return value


class RecordInserter(ast.NodeTransformer):
    """Lets a function record its variables and results."""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        parts = [part for target in node.targets for part in ast.walk(target)]
        names = [part.id for part in parts if isinstance(part, ast.Name) and part.id != "self"]
        code = "\n".join(f"record.assign({name!r}, {node.lineno}, {name})" for name in names)
        return [node, *ast.parse(code).body]

    def visit_Return(self, node: ast.Return) -> ast.Return:
        code = f"record.result({node.lineno}, {ast.unparse(node.value or ast.Constant(None))})"
        return ast.Return(ast.parse(code, mode="eval").body)


def insert_record(name: str, node: ast.FunctionDef) -> None:
    """Let a function that returns something record its arguments, variables and results."""
    if node.returns and ast.unparse(node.returns) != "None":
        RecordInserter().generic_visit(node)
        start = [f"record = start_record({name!r})"]
        start += [f"record.assign({arg.arg!r}, {arg.lineno}, {arg.arg})" for arg in node.args.args]
        node.body[:0] = ast.parse("\n".join(start)).body


def find_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a file, and the methods of its classes as Class.name."""
    for node in tree.body:
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for part in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(part, ast.FunctionDef):
                yield owner + part.name, part


def execute_module(tree: ast.Module) -> Any:
    """A copy of transformer.py, from a changed syntax tree."""
    module = ModuleType(transformer.__name__)
    exec(compile(ast.fix_missing_locations(tree), str(MODEL_FILE), "exec"), vars(module))
    return module


def recording_module(text: str, steps: list[Step]) -> Any:
    """A copy of transformer.py from its text, whose functions add their tensors to the steps."""
    tree = ast.parse(text)
    for name, function in find_definitions(tree):
        insert_record(name, function)
    module = execute_module(tree)
    module.start_record = functools.partial(CallRecord, steps)
    return module


def explicit_module(steps: list[Step]) -> Any:
    """A recording module that calls explicit attention before the fused one."""

    def attend(*args: Any) -> tuple[Tensor, Tensor]:
        _, weights = module.scaled_dot_product_attention(*args)
        return fused_attention(*args)[0], weights

    module = recording_module(MODEL_FILE.read_text(encoding="utf-8"), steps)
    fused_attention, module.fused_attention = module.fused_attention, attend
    return module


def make_config(sizes: Sizes, layers: int = 1, tied: bool = False) -> TransformerConfig:
    return TransformerConfig(
        src_vocab_size=sizes["V_src"],
        tgt_vocab_size=sizes["V_tgt"],
        d_model=sizes["d"],
        nhead=sizes["h"],
        num_encoder_layers=layers,
        num_decoder_layers=layers,
        dim_feedforward=sizes["f"],
        max_len=sizes["max_len"],
        tie_embeddings=tied,
    )


def trace_model(sizes: Sizes) -> list[CallRecord]:
    """The calls between ids and logits, in order."""
    steps: list[Step] = []
    module = explicit_module(steps)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = module.Transformer(make_config(sizes, tied=True)).eval()
        steps.clear()
        src = torch.ones(sizes["b"], sizes[SOURCE_LENGTH], dtype=torch.int64)
        tgt = torch.ones(sizes["b"], sizes[TARGET_LENGTH], dtype=torch.int64)
        model(src, tgt)
    return [*dict.fromkeys(step.call for step in steps)]


# Shapes in symbols


def symbolic_calls(sizes: Sizes) -> dict[str, list[CallShapes]]:
    """The shapes in symbols of each call of each function, in the order of the computation.

    Raises ValueError if an axis has the size of no symbol.
    """
    symbol_of = {size: symbol for symbol, size in sizes.items()} | {1: "1"}
    calls: dict[str, list[CallShapes]] = {}
    for call in trace_model(sizes):
        shapes: CallShapes = {}
        for variable, tensor in call.tensors.items():
            if not {*tensor.shape} <= symbol_of.keys():
                what = f"{variable.name} is {tuple(tensor.shape)}, which no symbols describe"
                raise ValueError(f"{variable.function}: {what}")
            shapes[variable] = tuple(symbol_of[size] for size in tensor.shape)
        calls.setdefault(call.function, []).append(shapes)
    return calls


def symbolic_shapes(*others: Sizes) -> CallShapes:
    """Every variable with its shape in symbols; others: sizes of further runs to check it with.

    A function is shown by its last call with both sequence lengths; else with the target's, the
    source's, or any. 1|n is an axis of size 1 in some calls, such as a mask's to be broadcast.
    Raises ValueError if a call doesn't have the shapes shown, for any two sequence lengths.
    """

    def specificity(call: CallShapes) -> int:
        symbols = {symbol for shape in call.values() for symbol in shape}
        return 2 * (TARGET_LENGTH in symbols) + (SOURCE_LENGTH in symbols)

    shapes: CallShapes = {}
    for calls in symbolic_calls(DISTINCT_SIZES).values():
        for variable, shape in max(reversed(calls), key=specificity).items():
            axes = zip(*(call[variable] for call in calls if variable in call), strict=True)
            optional = f"1|{TARGET_LENGTH if SOURCE_LENGTH in shape else SOURCE_LENGTH}"
            shapes[variable] = tuple(
                optional if symbol == "1" and {*seen} != {"1"} else symbol
                for symbol, seen in zip(shape, axes, strict=True)
            )
    for sizes in (DISTINCT_SIZES, *others):
        for call in trace_model(sizes):
            check_call(call, sizes, shapes)
    return shapes


def check_call(call: CallRecord, sizes: Sizes, shapes: CallShapes) -> None:
    """Raises ValueError if a call doesn't have the shapes of the table.

    m and n may be any lengths, but must be the same in all tensors of a call.
    """
    lengths: dict[str, int] = {}

    def matches(symbol: str, size: int) -> bool:
        optional, _, name = symbol.rpartition("|")
        if optional and size == 1:
            return True
        if name in (SOURCE_LENGTH, TARGET_LENGTH):
            return lengths.setdefault(name, size) == size
        return size == sizes.get(name, 1)

    for variable, tensor in call.tensors.items():
        expected, found = shapes.get(variable), tuple(tensor.shape)
        if expected is None:
            what = f"{variable.name} of line {variable.line} is not in the table"
            raise ValueError(f"{variable.function}: {what}")
        if len(found) != len(expected) or not all(map(matches, expected, found)):
            what = f"{variable.name} is {found}, not {format_shape(expected)}"
            raise ValueError(f"{variable.function}: {what}")


class TensorRow(NamedTuple):
    """A row of the table of tensors."""

    function: str
    name: str
    line: int  # of the file as readers download it
    code: str  # the statement; empty for an argument
    shape: str
    example: str
    dtype: str


def tensor_rows() -> Iterator[TensorRow]:
    """The rows of the table of tensors, for bookbuild.generated.shapes."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    line = downloaded_line(text)
    statements = {
        node.lineno: join_lines(ast.get_source_segment(text, node) or "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.Return)
    }
    calls = trace_model(DISTINCT_SIZES)
    tensors = {key: tensor for call in calls for key, tensor in call.tensors.items()}
    example = EXAMPLE_SIZES | {"1": 1}
    for variable, symbols in symbolic_shapes(*OTHER_SIZES, EXAMPLE_SIZES).items():
        yield TensorRow(
            variable.function,
            variable.name,
            line(variable.line),
            statements.get(variable.line, ""),
            format_shape(symbols),
            format_shape(example[symbol.partition("|")[0]] for symbol in symbols),
            str(tensors[variable].dtype).removeprefix("torch."),
        )


def join_lines(code: str) -> str:
    """A statement on one line."""
    return re.sub(r"(?<=\() |,? (?=\))", "", " ".join(code.split()))


def format_shape(sizes: Iterable[object]) -> str:
    """A shape as Python writes it: (2, 5), and (512,) for one axis."""
    return str(tuple(sizes)).replace("'", "")


# Parameters and buffers


class ParameterGroup(NamedTuple):
    """Parameters of the same shape: common name, shape in symbols, size of each, and count."""

    name: str  # encoder.layers.{0…5}.{norm1,norm2}.weight
    shape: str
    size: int
    copies: int


def parameters_and_buffers(vocabulary: int) -> tuple[list[ParameterGroup], list[ParameterGroup]]:
    """The parameters and buffers of the base model, grouped if their names differ by a number or
    by the part of an attention."""
    symbol_of = {size: symbol for symbol, size in DISTINCT_SIZES.items()}
    with torch.device("meta"):
        distinct = Transformer(make_config(DISTINCT_SIZES, layers=6))
        base = Transformer(TransformerConfig(vocabulary, vocabulary))

    def parameter_groups(kind: str) -> list[ParameterGroup]:
        groups: dict[tuple, list[str]] = {}
        parameters = zip(getattr(base, kind)(), getattr(distinct, kind)(), strict=True)
        for (name, tensor), (_, distinct_tensor) in parameters:
            key = re.sub(r"\.(\d+|norm\d|query|key|value|output)(?=\.)", ".*", name)
            shape = format_shape(symbol_of[size] for size in distinct_tensor.shape)
            groups.setdefault((key, shape, tensor.numel()), []).append(name)
        return [
            ParameterGroup(common_name(names), shape, size, len(names))
            for (_, shape, size), names in groups.items()
        ]

    return parameter_groups("named_parameters"), parameter_groups("named_buffers")


def common_name(names: list[str]) -> str:
    """One name for several: a.{0…5}.{key,value}."""
    common = []
    for column in zip(*(name.split(".") for name in names), strict=True):
        parts = [*dict.fromkeys(column)]
        is_range = len(parts) > 3 and parts[0].isdigit()
        braces = f"{parts[0]}…{parts[-1]}" if is_range else ",".join(parts)
        common.append(f"{{{braces}}}" if len(parts) > 1 else braces)
    return ".".join(common)
