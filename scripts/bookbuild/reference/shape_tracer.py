"""Records every tensor that the model computes between ids and logits.

Each argument and variable that holds a tensor in a function of snippets/transformer.py is one
table row, and so is an unnamed result of a function. The functions record them when they run in
a copy of the module with calls of a CallRecord added. The model runs with several sizes. A size
of an axis has a symbol if it is that symbol's size in every run.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
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

Sizes = dict[str, int]  # by symbol


class Variable(NamedTuple):
    """A variable of a function, and the line of the statement that assigns it."""

    function: str  # MultiHeadAttention.forward
    name: str  # return for an unnamed result
    line: int


CallShapes = dict[Variable, tuple[str, ...]]  # in symbols


def make_sizes(
    b: int, m: int, n: int, d: int, h: int, f: int, vocabularies: tuple[int, int], max_len: int
) -> Sizes:
    """The sizes of a run by symbol, in the order of the table of letters."""
    sizes = {"b": b, SOURCE_LENGTH: m, TARGET_LENGTH: n, "d": d, "h": h, "d/h": d // h, "f": f}
    return sizes | {"V_src": vocabularies[0], "V_tgt": vocabularies[1], "max_len": max_len}


# A size identifies its symbol only if no two are equal and none is 1.
DISTINCT_SIZES = make_sizes(3, 7, 11, 20, 4, 17, (13, 19), 23)
OTHER_SIZES = [
    make_sizes(5, 11, 7, 26, 2, 17, (19, 23), 29),
    make_sizes(1, 1, 4, 4, 1, 4, (6, 5), 4),
]
# The running example, "why do we work ?" and "we work", in the base model.
EXAMPLE_SIZES = make_sizes(2, 5, 9, 512, 8, 2048, (9, 12), 5000)


class CallRecord:
    """The tensors of one call of a function."""

    def __init__(self, function: str):
        self.function = function
        self.tensors: dict[Variable, Tensor] = {}
        self.named: dict[str, object] = {}

    def assign(self, name: str, line: int, value: object) -> None:
        if isinstance(value, Tensor) and self.named.get(name) is not value:
            self.tensors[Variable(self.function, name, line)] = value
        self.named[name] = value

    def result(self, line: int, value: Any) -> Any:
        for part in value if isinstance(value, tuple) else (value,):
            if not any(part is named for named in self.named.values()):
                self.assign("return", line, part)
        return value


class RecordInserter(ast.NodeTransformer):
    """Lets each function that returns something record its arguments, variables and result."""

    def __init__(self) -> None:
        self.scope: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self.visit_scope(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.returns is None or ast.unparse(node.returns) == "None":
            return node
        self.visit_scope(node)
        name = ".".join([*self.scope, node.name])
        start = [f"record = start_record({name!r})"]
        start += [f"record.assign({arg.arg!r}, {arg.lineno}, {arg.arg})" for arg in node.args.args]
        node.body[:0] = ast.parse("\n".join(start)).body
        return node

    def visit_scope(self, node: ast.ClassDef | ast.FunctionDef) -> ast.AST:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()
        return node

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        if not self.scope:
            return [node]
        parts = [part for target in node.targets for part in ast.walk(target)]
        names = [part.id for part in parts if isinstance(part, ast.Name) and part.id != "self"]
        code = "\n".join(f"record.assign({name!r}, {node.lineno}, {name})" for name in names)
        return [node, *ast.parse(code).body]

    def visit_Return(self, node: ast.Return) -> ast.Return:
        code = f"record.result({node.lineno}, {ast.unparse(node.value or ast.Constant(None))})"
        return ast.Return(ast.parse(code, mode="eval").body)


def execute_module(tree: ast.Module) -> Any:
    """A copy of transformer.py, from a changed syntax tree."""
    module = ModuleType(transformer.__name__)
    exec(compile(ast.fix_missing_locations(tree), str(MODEL_FILE), "exec"), vars(module))
    return module


def instrument_module(text: str | bytes, start_record: Callable[[str], Any]) -> Any:
    """A copy of transformer.py from its text, in which each call has a record.

    start_record gets the name of the function; what it returns has the methods of CallRecord.
    """
    module = execute_module(RecordInserter().visit(ast.parse(text)))
    module.start_record = start_record
    return module


def recording_module(records: list[CallRecord]) -> ModuleType:
    """A copy of transformer.py whose functions add a record of each call to the list.

    The model calls the explicit attention and LayerNorm before the fused ones.
    """

    def start_record(function: str) -> CallRecord:
        records.append(CallRecord(function))
        return records[-1]

    def attend(*args: Any) -> tuple[Tensor, Tensor]:
        _, weights = module.scaled_dot_product_attention(*args)
        return fused_attention(*args)[0], weights

    def normalize(self: transformer.LayerNorm, x: Tensor) -> Tensor:
        module.layer_norm(x, self.weight, self.bias, self.eps)
        return forward(self, x)

    module = instrument_module(MODEL_FILE.read_bytes(), start_record)
    fused_attention, module.fused_attention = module.fused_attention, attend
    forward, module.LayerNorm.forward = module.LayerNorm.forward, normalize
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
    """The calls between ids and logits that return something, in order."""
    records: list[CallRecord] = []
    module = recording_module(records)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = module.Transformer(make_config(sizes, tied=True)).eval()
        records.clear()
        src = torch.ones(sizes["b"], sizes[SOURCE_LENGTH], dtype=torch.int64)
        tgt = torch.ones(sizes["b"], sizes[TARGET_LENGTH], dtype=torch.int64)
        model(src, tgt)
    return records


# Shapes in symbols


def symbolic_calls(runs: list[Sizes]) -> dict[str, list[CallShapes]]:
    """The shapes in symbols of each call of each function, in the order of the computation.

    Raises ValueError if the sizes of an axis are those of no symbol in all runs.
    """
    symbol_of = {tuple(sizes[symbol] for sizes in runs): symbol for symbol in runs[0]}
    symbol_of[(1,) * len(runs)] = "1"
    if len(symbol_of) <= len(runs[0]):
        raise ValueError("two symbols have equal sizes in all runs; choose different sizes")
    calls: dict[str, list[CallShapes]] = {}
    for records in zip(*map(trace_model, runs), strict=True):
        call: CallShapes = {}
        for variable in records[0].tensors:
            shapes = [tuple(record.tensors[variable].shape) for record in records]
            axes = [*zip(*shapes, strict=True)]
            if any(sizes not in symbol_of for sizes in axes):
                what = f"{variable.name} is {' or '.join(map(str, shapes))}"
                raise ValueError(f"{variable.function}: {what}, which no symbols describe")
            call[variable] = tuple(symbol_of[sizes] for sizes in axes)
        calls.setdefault(records[0].function, []).append(call)
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
    for calls in symbolic_calls([DISTINCT_SIZES, *others]).values():
        for variable, shape in max(reversed(calls), key=specificity).items():
            axes = zip(*(call[variable] for call in calls if variable in call), strict=True)
            optional = f"1|{TARGET_LENGTH if SOURCE_LENGTH in shape else SOURCE_LENGTH}"
            shapes[variable] = tuple(
                optional if symbol == "1" and {*seen} != {"1"} else symbol
                for symbol, seen in zip(shape, axes, strict=True)
            )
        for call in calls:
            check_call(call, shapes)
    return shapes


def check_call(call: CallShapes, shapes: CallShapes) -> None:
    """Raises ValueError if a call doesn't have the shapes of the table.

    m and n may be any lengths, but must be the same in all tensors of a call.
    """
    lengths: dict[str, str] = {}

    def matches(symbol: str, found: str) -> bool:
        optional, _, name = symbol.rpartition("|")
        if name in (SOURCE_LENGTH, TARGET_LENGTH) and found != optional:
            return lengths.setdefault(name, found) == found
        return found in (optional, name)

    for variable, found in call.items():
        expected = shapes.get(variable)
        if expected is None:
            what = f"{variable.name} of line {variable.line} is not in the table"
            raise ValueError(f"{variable.function}: {what}")
        if len(found) != len(expected) or not all(map(matches, expected, found)):
            what = f"{variable.name} is ({', '.join(found)}), not ({', '.join(expected)})"
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
    """The rows of the table of tensors, for bookbuild.reference.shapes."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    line = downloaded_line(text)
    statements = {
        node.lineno: join_lines(ast.get_source_segment(text, node) or "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.Return)
    }
    records = trace_model(DISTINCT_SIZES)
    tensors = {key: tensor for record in records for key, tensor in record.tensors.items()}
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
    texts = [*map(str, sizes)]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


# Parameters and buffers


class ParameterGroup(NamedTuple):
    """Parameters of the same shape: common name, shape in symbols, size of each, and count."""

    name: str  # encoder.layers.{0…5}.residuals.{0,1}.norm.weight
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
        sizes = {name: tensor.numel() for name, tensor in getattr(base, kind)()}
        groups: dict[str, list[str]] = {}
        shapes = {}
        for name, tensor in getattr(distinct, kind)():
            key = re.sub(r"\.(\d+|query|key|value|output)(?=\.)", ".*", name)
            groups.setdefault(key, []).append(name)
            shapes[name] = format_shape(symbol_of[size] for size in tensor.shape)
        return [
            ParameterGroup(common_name(names), shapes[names[0]], sizes[names[0]], len(names))
            for names in groups.values()
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
