"""Every tensor that the model makes on its way from ids to logits, found by watching it run.

Each variable of each function of snippets/transformer.py that holds a tensor is one row, and so
is what a function returns without a name. Symbols are read off a run whose sizes all differ, and
held against every call of that run and of runs with other sizes.
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
SOURCE, TARGET = "m", "n"  # how many tokens; in attention, how many keys and queries


class Row(NamedTuple):
    """A tensor of a function: its name there, and the line of the statement that makes it."""

    function: str  # MultiHeadAttention.forward
    name: str  # return, if it has none
    line: int


class Sizes(NamedTuple):
    """What a run is made with."""

    batch: int
    source: int
    target: int
    config: TransformerConfig

    def symbols(self) -> dict[str, int]:
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


Call = dict[Row, Tensor]


def sizes(batch: int, source: int, target: int, vocabularies: tuple[int, int], **config) -> Sizes:
    return Sizes(batch, source, target, TransformerConfig(*vocabularies, **config))


# Which size is which can be told where no two are equal, and none is 1.
SMALL = {"num_encoder_layers": 2, "num_decoder_layers": 2}
DISTINCT = sizes(3, 7, 11, (13, 19), d_model=20, nhead=4, dim_feedforward=17, max_len=23, **SMALL)
OTHERS = [
    sizes(5, 11, 7, (19, 23), d_model=26, nhead=2, dim_feedforward=17, max_len=29, **SMALL),
    sizes(1, 1, 4, (6, 5), d_model=4, nhead=1, dim_feedforward=4, max_len=4, **SMALL),
]
# The running example: why do we work ? and we work, in the base model.
# All layers are alike, so that one of each kind is enough.
EXAMPLE = sizes(2, 5, 9, (9, 12), num_encoder_layers=1, num_decoder_layers=1)


def statements(path: Path = MODEL_FILE) -> dict[int, int]:
    """For each line of the file that of the statement, or parameter, which it belongs to."""
    first: dict[int, int] = {}
    nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.stmt)]
    for node in sorted(nodes, key=lambda node: node.lineno):
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            first[line] = node.lineno  # the innermost begins last
    return first


def functions(path: Path = MODEL_FILE) -> dict[str, ast.FunctionDef]:
    """Every function of the file under its qualified name, without <locals>."""
    found: dict[str, ast.FunctionDef] = {}

    def walk(node: ast.AST, before: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef):
                name = f"{before}{child.name}"
                if isinstance(child, ast.FunctionDef):
                    found[name] = child
                walk(child, f"{name}.")

    walk(ast.parse(path.read_bytes()), "")
    return found


class ShapeTracer:
    """Notes the tensors of each call of a function of the file."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Call]] = []
        self.statement = statements()
        self.parameters = {
            name: {each.arg: each.lineno for each in node.args.args}
            for name, node in functions().items()
        }

    def __call__(self, frame: FrameType, event: str, arg: Any):
        if frame.f_code.co_filename != str(MODEL_FILE) or "<" in frame.f_code.co_name:
            return None
        function = frame.f_code.co_qualname.replace(".<locals>", "")
        call: Call = {}
        self.calls.append((function, call))
        before: dict[str, Any] = {}
        line = 0

        def look(frame: FrameType, event: str, arg: Any):
            nonlocal line
            given = not before
            for name, value in frame.f_locals.items():
                new = isinstance(value, Tensor) and before.get(name) is not value
                if new and name not in frame.f_code.co_freevars:
                    at = self.parameters[function][name] if given else line
                    call[Row(function, name, at)] = value
            before.update(frame.f_locals, **{"": None})
            line = self.statement[frame.f_lineno]
            if event == "return":
                named = {id(value) for value in before.values()}
                for value in arg if isinstance(arg, tuple) else (arg,):
                    if isinstance(value, Tensor) and id(value) not in named:
                        call[Row(function, "return", line)] = value
            return look

        return look(frame, event, arg)


@contextmanager
def both_ways() -> Iterator[None]:
    """Attention and LayerNorm by their formulas, then by the kernels that the model uses."""
    fused, fast = transformer.fused_attention, transformer.LayerNorm.forward

    def attend(*args: Any) -> tuple[Tensor, Tensor]:
        _, weights = transformer.scaled_dot_product_attention(*args)
        return fused(*args)[0], weights

    def normalise(self: transformer.LayerNorm, x: Tensor) -> Tensor:
        transformer.layer_norm(x, self.weight, self.bias, self.eps)
        return fast(self, x)

    with (
        mock.patch.object(transformer, "fused_attention", attend),
        mock.patch.object(transformer.LayerNorm, "forward", normalise),
    ):
        yield


def run(sizes: Sizes) -> list[tuple[str, Call]]:
    """Each call of a function on the way from ids to logits, in order, with its tensors."""
    config = sizes.config
    with torch.random.fork_rng(devices=[]):
        model = Transformer(TransformerConfig(**{**vars(config), "tie_embeddings": True})).eval()
    src = torch.ones(sizes.batch, sizes.source, dtype=torch.int64)
    tgt = torch.ones(sizes.batch, sizes.target, dtype=torch.int64)
    watch, before = ShapeTracer(), sys.gettrace()
    with both_ways(), torch.no_grad():
        sys.settrace(watch)
        try:
            model(src, tgt)
        finally:
            sys.settrace(before)
    return watch.calls


def makes_tensors() -> list[str]:
    """The functions of the file that return something; check_mask only looks."""
    return [
        name
        for name, node in functions().items()
        if node.returns is not None and ast.unparse(node.returns) != "None"
    ]


def clearest(calls: list[Call]) -> Call:
    """The call that tells most: with both lengths, or the target's, or any; the last such."""

    def told(call: Call) -> int:
        found = {size for tensor in call.values() for size in tensor.shape}
        return 2 * (DISTINCT.target in found) + (DISTINCT.source in found)

    most = max(map(told, calls))
    return [call for call in calls if told(call) == most][-1]


def symbolic() -> dict[Row, tuple[str, ...]]:
    """Every row with its shape in symbols, in the order of the computation.

    1|n is an axis whose size is 1 in some calls: a mask's, to be broadcast.
    """
    names = {size: name for name, size in DISTINCT.symbols().items()} | {1: "1"}
    if len(names) <= len(DISTINCT.symbols()):
        raise ValueError("two sizes are the same, so that symbols can't be told apart")
    calls = run(DISTINCT)
    rows: dict[Row, tuple[str, ...]] = {}
    making = [function for function, _ in calls if function in makes_tensors()]
    for function in dict.fromkeys(making):
        own = [call for name, call in calls if name == function]
        for row, tensor in clearest(own).items():
            shape = [names[size] for size in tensor.shape]
            for axis, size in enumerate(tensor.shape):
                others = {call[row].shape[axis] for call in own if row in call}
                if size == 1 and others != {1}:  # the other length than the one that is there
                    shape[axis] = f"1|{TARGET if SOURCE in shape else SOURCE}"
            rows[row] = tuple(shape)
    return rows


def disagreements(rows: dict[Row, tuple[str, ...]], sizes: Sizes) -> Iterator[str]:
    """Where a run's shapes aren't what the symbols say.

    m and n may be any lengths, but must be the same two in all of a call.
    """
    making = makes_tensors()
    for function, call in run(sizes):
        if function not in making:
            continue
        known = sizes.symbols() | {"1": 1}
        del known[SOURCE], known[TARGET]
        for row, tensor in call.items():
            told, shape = rows.get(row), tuple(tensor.shape)
            if told is None:
                yield f"{function}: {row.name} of line {row.line} is not in the table"
            elif not fits(told, shape, known):
                yield f"{function}: {row.name} is {shape}, not ({', '.join(told)})"


def fits(told: tuple[str, ...], shape: tuple[int, ...], known: dict[str, int]) -> bool:
    """Is the shape what the symbols say? Notes in known what it tells of m and n."""
    for symbol, size in zip_longest(told, shape, fillvalue=None):
        if symbol is None or size is None:
            return False
        one, _, other = symbol.partition("|")
        if not (other and size == 1) and known.setdefault(other or one, size) != size:
            return False
    return True


def example(rows: dict[Row, tuple[str, ...]]) -> dict[Row, Tensor]:
    """Every row's tensor in the running example: that of the call whose m and n are its own."""
    found: dict[Row, Tensor] = {}
    for _, call in run(EXAMPLE):
        known = EXAMPLE.symbols() | {"1": 1}
        if all(fits(rows.get(row, ()), tuple(each.shape), known) for row, each in call.items()):
            found |= call
    return found


class Shown(NamedTuple):
    """What is told of a tensor."""

    function: str
    name: str
    line: int  # of the file as readers download it
    code: str  # the statement; nothing for an argument
    shape: str
    example: str
    dtype: str


def shown(rows: dict[Row, tuple[str, ...]]) -> Iterator[Shown]:
    """Every tensor, for shapes.py to make tables of."""
    text = MODEL_FILE.read_text(encoding="utf-8")
    marks = [line_number(text, mark.start()) for mark in SECTION_MARKER.finditer(text)]
    code = {
        node.lineno: in_one_line(ast.get_source_segment(text, node) or "")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign | ast.Return)
    }
    tensors = example(rows)
    for row, symbols in rows.items():
        tensor = tensors[row]
        yield Shown(
            row.function,
            row.name,
            row.line - sum(mark < row.line for mark in marks),
            code.get(row.line, ""),
            shape(symbols),
            shape(tensor.shape),
            str(tensor.dtype).removeprefix("torch."),
        )


def in_one_line(code: str) -> str:
    """A statement as it would stand if lines had no end."""
    return re.sub(r"(?<=\() |,? (?=\))", "", " ".join(code.split()))


def shape(sizes: Iterable[object]) -> str:
    """A shape as Python writes it: (2, 5), and (512,) for one axis."""
    told = [*map(str, sizes)]
    return f"({told[0]},)" if len(told) == 1 else f"({', '.join(told)})"


LAYER = re.compile(r"layers\.\d+")
SIBLING = re.compile(r"(?<=attention\.)(?:query|key|value|output)|(?<=residuals\.)\d+")


class Kind(NamedTuple):
    """Parameters alike: their common name, shape in symbols, numbers in each, and how many."""

    name: str
    shape: str
    numbers: int
    copies: int


Named = Iterable[tuple[str, Tensor]]


def kinds(tensors: Named, distinct: Named) -> Iterator[Kind]:
    """A model's tensors, alike ones together; distinct: those of the model of DISTINCT."""
    names = {size: name for name, size in DISTINCT.symbols().items()}
    symbols = {name: [names[size] for size in tensor.shape] for name, tensor in distinct}
    found: dict[str, list[tuple[str, Tensor]]] = {}
    for name, tensor in tensors:
        found.setdefault(SIBLING.sub("*", LAYER.sub("layers.*", name)), []).append((name, tensor))
    for members in found.values():
        shown, tensor = members[0]
        siblings = dict.fromkeys(s for name, _ in members for s in SIBLING.findall(name))
        layers = dict.fromkeys(s for name, _ in members for s in LAYER.findall(name))
        common = SIBLING.sub(f"{{{','.join(siblings)}}}", shown) if len(siblings) > 1 else shown
        if layers:
            common = LAYER.sub(f"layers.{{0…{len(layers) - 1}}}", common)
        symbol = symbols[LAYER.sub("layers.0", shown)]
        yield Kind(common, shape(symbol), tensor.numel(), len(members))


def kept(vocabulary: int) -> tuple[list[Kind], list[Kind]]:
    """The parameters and the buffers of the base model."""
    with torch.device("meta"):
        base = Transformer(TransformerConfig(vocabulary, vocabulary))
        other = Transformer(DISTINCT.config)
    parameters = [*kinds(base.named_parameters(), other.named_parameters())]
    buffers = [*kinds(base.named_buffers(), other.named_buffers())]
    return parameters, buffers
