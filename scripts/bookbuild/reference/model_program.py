"""Exports the forward pass of snippets/transformer.py as a program for the page Step through.

The page interprets the program line by line in the browser (overrides/assets/widgets/step/), so
that names and lines are those of the file. An expression is a number, Boolean or None, a string
(a name), or a list: operator, operands, and an object if there are keyword arguments. Whatever
the interpreter can't run is a SourceError.
"""

import ast
from collections.abc import Iterable
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from bookbuild.pages.errors import SourceError
from bookbuild.pages.sections import downloaded_line
from bookbuild.reference.cross_attention import TRANSLATOR_WEIGHTS
from bookbuild.reference.shape_tracer import MODEL_FILE, execute_module
from translator import read_file

Json = Any

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Invert: "~",
    ast.Not: "not",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
}
# Functions, methods and constants with the keyword arguments that each may have.
FUNCTIONS = {
    "F.dropout": set(),
    "F.layer_norm": set(),
    "F.linear": set(),
    "math.sqrt": set(),
    "torch.bool": set(),
    "torch.finfo": set(),
    "torch.ones": {"dtype", "device"},
    "torch.tensor": {"device"},
    ".flatten": set(),
    ".index_fill": set(),
    ".masked_fill": set(),
    ".relu": set(),
    ".size": set(),
    ".softmax": {"dim"},
    ".transpose": set(),
    ".tril": set(),
    ".unflatten": set(),
}
SYNTAX = {"tuple", "slice", "[]"}
ATTRIBUTES = {"device", "dtype", "min", "shape"}  # of other things than modules
MODULES = {"Dropout", "Embedding", "Identity", "Linear", "ModuleList"}  # of PyTorch

# The page shows scores and weights, so attention runs without the fused kernel.
EXPLICIT = "need_weights"
EXPLICIT_ATTENTION = (f"{EXPLICIT}: bool = False", f"{EXPLICIT}: bool = True")
# What a reader may switch off, each a replacement of code in the file on the same line.
SWITCHES = {
    "mask": [("full.tril()", "full.tril(size)"), ("(ids != pad_id)[", "(ids == ids)[")],
    "scale": [("/ math.sqrt(query.size(-1))", "/ 1")],
    "positions": [("+ self.table[:length]", "+ 0 * self.table[:length]")],
    "head": [("heads.transpose(1, 2)", "(heads * self.kept).transpose(1, 2)")],
}


def replace_code(text: str, switch: str | None = None) -> str:
    """The code of the file as the page runs it, with a switch if one is named."""
    for old, new in [EXPLICIT_ATTENTION, *(SWITCHES[switch] if switch else [])]:
        if text.count(old) != 1:
            message = f"step-through needs {old!r} once; change the text in model_program.py too"
            raise SourceError(MODEL_FILE, 1, message)
        text = text.replace(old, new)
    return text


def make_model(module: ModuleType | Any) -> nn.Module:
    """An untrained model of the translator's configuration from a copy of transformer.py.

    Attention multiplies its heads by `kept` if one is switched off.
    """
    module.MultiHeadAttention.kept = 1
    config = read_file(TRANSLATOR_WEIGHTS)[0]["config"]
    with torch.random.fork_rng(devices=[]):
        return module.Transformer(module.TransformerConfig(**config)).eval()


def model_program(text: str | None = None) -> Json:
    """The program of a file's text, by default snippets/transformer.py, and of each switch."""
    text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text
    exporter = Exporter(replace_code(text))
    functions = exporter.functions
    switches = {}
    for name in SWITCHES:
        changed = Exporter(replace_code(text, name)).functions
        switches[name] = {key: each for key, each in changed.items() if each != functions.get(key)}
    modules = exporter.module_tree(exporter.model)
    return {
        "functions": functions,
        "switches": switches,
        "modules": modules,
        "notes": exporter.notes,
    }


class Exporter:
    """Exports the functions that a model of the file calls in Transformer.forward."""

    def __init__(self, text: str):
        tree = ast.parse(text)
        self.module = execute_module(tree)
        self.model = make_model(self.module)
        self.line = downloaded_line(text)
        self.definitions = dict(find_definitions(tree))
        self.instances: dict[str, nn.Module] = {}
        for module in self.model.modules():
            self.instances.setdefault(type(module).__name__, module)
        self.functions: dict[str, Json] = {}
        self.notes: dict[str, int] = {}
        self.attributes: set[str] = set()  # of modules, which the functions use
        self.scopes: list[set[str]] = []  # names in the functions around an expression
        self.owner: nn.Module | None = None  # self
        for name in self.instances:
            self.reach(f"{name}.forward")

    def fail(self, node: ast.AST) -> SourceError:
        line: int = getattr(node, "lineno", 1)
        code = ast.unparse(node).partition("\n")[0]
        hint = "add it to model_program.py and to overrides/assets/widgets/step"
        return SourceError(MODEL_FILE, line, f"step-through can't run `{code}`; {hint}")

    # Functions

    def reach(self, name: str) -> bool:
        """Export a function or method of the file; False if there is none of this name."""
        if name in self.definitions and name not in self.functions:
            self.functions[name] = None  # it may call itself
            scopes, owner = self.scopes, self.owner
            self.scopes, self.owner = [], self.instances.get(name.rpartition(".")[0])
            self.functions[name] = self.function(self.definitions[name], name)
            self.scopes, self.owner = scopes, owner
        return name in self.definitions

    def function(self, node: ast.FunctionDef, name: str) -> Json:
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            raise self.fail(arguments)
        stored = {
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        nested = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        self.scopes.append({argument.arg for argument in arguments.args} | stored | nested)
        args = [[argument.arg, self.line(argument.lineno)] for argument in arguments.args]
        defaults = arguments.defaults
        for argument, default in zip(args[len(args) - len(defaults) :], defaults, strict=True):
            argument.append(self.expression(default))
        end = (node.returns and node.returns.end_lineno) or node.lineno
        exported = {
            "name": name,
            "line": self.line(node.lineno),
            "endLine": self.line(end),
            "args": [each for each in args if each[0] != "self"],
            "body": self.block(node.body, name),
        }
        self.scopes.pop()
        return exported

    # Statements

    def block(self, nodes: Iterable[ast.stmt], name: str) -> list[Json]:
        return [each for node in nodes if (each := self.statement(node, name)) is not None]

    def statement(self, node: ast.stmt, name: str) -> Json:
        """None for one that computes nothing: a docstring, or a check that may raise an error."""
        first = self.line(node.lineno)
        lines = [first, self.line(node.end_lineno or node.lineno)]
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                return None
            case ast.Expr(value=ast.Call(func=ast.Name(id=check))) if self.is_check(check):
                return None
            case ast.If(body=[ast.Raise()], orelse=[]):
                return None
            case ast.Assign(targets=[target], value=value):
                return [*lines, "=", self.target(target), self.expression(value)]
            case ast.Return(value=ast.expr() as value):
                return [*lines, "return", self.expression(value)]
            case ast.For(target=target, iter=values, body=body, orelse=[]):
                parts = self.target(target), self.expression(values), self.block(body, name)
                return [first, first, "for", *parts]
            case ast.If(test=test, body=body, orelse=orelse):
                parts = self.expression(test), self.block(body, name), self.block(orelse, name)
                return [first, first, "if", *parts]
            case ast.FunctionDef(name=nested):
                return [first, first, "def", nested, self.function(node, f"{name}.{nested}")]
        raise self.fail(node)

    def is_check(self, name: str) -> bool:
        """Whether a function of the file returns nothing, so that it can only raise."""
        definition = self.definitions.get(name)
        return bool(definition and definition.returns and ast.unparse(definition.returns) == "None")

    def target(self, node: ast.expr) -> Json:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Tuple(elts=parts) if all(isinstance(part, ast.Name) for part in parts):
                return [self.target(part) for part in parts]
        raise self.fail(node)

    # Expressions

    def expression(self, node: ast.expr) -> Json:
        match node:
            case ast.Constant(value=None | bool() | int() | float() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.Name(id=name):
                if any(name in scope for scope in self.scopes) or self.reach(name):
                    return name
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.expression(operand)]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.expression(left), self.expression(right)]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.expression(left), self.expression(right)]
            case ast.IfExp(test=ast.Name(id=name), body=body) if name == EXPLICIT:
                self.notes["explicit_attention"] = self.line(node.lineno)
                return self.expression(body)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ["?", *map(self.expression, (test, body, orelse))]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return ["tuple", *map(self.expression, parts)]
            case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
                return ["[]", self.expression(value), *map(self.expression, parts)]
            case ast.Subscript(value=value, slice=part):
                return ["[]", self.expression(value), self.expression(part)]
            case ast.Slice(lower=lower, upper=upper, step=None):
                ends = [self.expression(end) if end else None for end in (lower, upper)]
                return ["slice", *ends]
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise self.fail(node)

    def call(self, node: ast.Call) -> Json:
        operands = [self.expression(argument) for argument in node.args]
        keywords = {str(each.arg): self.expression(each.value) for each in node.keywords}
        name, function = ast.unparse(node.func), node.func
        is_method = isinstance(function, ast.Attribute) and self.owner_value(function) is None
        if is_method and name not in FUNCTIONS:  # of a tensor
            name = f".{function.attr}"
            operands.insert(0, self.expression(function.value))
        known = name in FUNCTIONS
        if EXPLICIT in keywords or (known and not keywords.keys() <= FUNCTIONS[name]):
            raise self.fail(node)
        if not known:
            if name.startswith("."):
                raise self.fail(function)
            name, operands = "call", [self.expression(function), *operands]
        return [name, *operands, *([keywords] if keywords else [])]

    def attribute(self, node: ast.Attribute) -> Json:
        name = ast.unparse(node)
        if name in FUNCTIONS:
            return [name]
        value = self.owner_value(node)
        if value is None and node.attr not in ATTRIBUTES:
            raise self.fail(node)
        if callable(value) and not isinstance(value, nn.Module):  # a method
            owner = self.owner_value(node.value)
            if not self.reach(f"{type(owner).__name__}.{node.attr}"):
                raise self.fail(node)
        self.attributes.add(node.attr)
        return [".", self.expression(node.value), node.attr]

    def owner_value(self, node: ast.expr) -> Any:
        """The value of self, of an attribute of a module or of its configuration, else None."""
        match node:
            case ast.Name(id="self"):
                return self.owner
            case ast.Attribute(value=value, attr=name):
                owner = self.owner_value(value)
                if isinstance(owner, nn.Module) or is_dataclass(owner):
                    return getattr(owner, name, None)
        return None

    # Modules

    def module_tree(self, module: nn.Module) -> Json:
        """The class, the attributes that the functions use, the parameters and the parts."""
        kind = type(module).__name__
        if f"{kind}.forward" not in self.functions and kind not in MODULES:
            raise SourceError(MODEL_FILE, 1, f"step-through can't run the module {kind}")
        values = {name: vars(module).get(name) for name in sorted(self.attributes)}
        attributes = {
            name: {key: plain for key, plain in vars(value).items() if key in self.attributes}
            if is_dataclass(value)
            else value
            for name, value in values.items()
            if is_dataclass(value) or isinstance(value, bool | int | float)
        }
        tables = {}
        for name, table in module.named_buffers(recurse=False):
            if not torch.equal(table, self.module.sinusoidal_positional_encoding(*table.shape)):
                raise SourceError(MODEL_FILE, 1, f"step-through can't compute the buffer {name}")
            tables[name] = [*table.shape]
        tree = {
            "class": kind,
            "attributes": attributes,
            "parameters": shapes(module.named_parameters(recurse=False)),
            "tables": tables,
            "children": {name: self.module_tree(each) for name, each in module.named_children()},
        }
        return {key: value for key, value in tree.items() if value}


def shapes(tensors: Iterable[tuple[str, Tensor]]) -> dict[str, list[int]]:
    return {name: [*tensor.shape] for name, tensor in tensors}


def find_definitions(tree: ast.Module) -> Iterable[tuple[str, ast.FunctionDef]]:
    """The functions of a file, and the methods of its classes as Class.name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    yield f"{node.name}.{each.name}", each
