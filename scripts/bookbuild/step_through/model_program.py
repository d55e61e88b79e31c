"""Exports the forward pass of snippets/transformer.py as a program for the page Step through.

The page interprets the program line by line in the browser (overrides/assets/widgets/step/), so
that names and lines are those of the file. An expression is a number, Boolean or None, a string
(a name), or a list: operator, operands, and an object if there are keyword arguments. Whatever
the interpreter can't run is a SourceError. A reader may also switch parts of the model off.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import is_dataclass
from typing import Any

import torch
from torch import nn

from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS
from bookbuild.generated.shape_tracer import MODEL_FILE, execute_module, find_definitions
from bookbuild.pages.errors import SourceError
from bookbuild.pages.sections import downloaded_line
from translator import read_file

OWN_ATTRIBUTE = re.compile(r"self(\.\w+)+")  # self.config.pad_id, self.split
Json = Any
# What the interpreter knows, by the names in operations.js.
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.Invert: "~",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
}
# Functions and constants of modules, and methods of tensors.
FUNCTIONS = {
    *("F.dropout", "F.layer_norm", "math.sqrt", "torch.bool", "torch.finfo", "torch.ones"),
    *(".flatten", ".masked_fill", ".relu", ".size", ".softmax", ".transpose", ".tril"),
    ".unflatten",
}
KEYWORDS = {"torch.ones": {"dtype", "device"}, ".softmax": {"dim"}}  # of these functions
ATTRIBUTES = {"device", "dtype", "min", "shape"}  # of other things than modules
MODULES = {"Dropout", "Embedding", "Identity", "Linear", "ModuleList"}  # of torch.nn
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


def model_program(text: str | None = None) -> Json:
    """The program of a file's text, by default snippets/transformer.py, and of each switch."""
    text = MODEL_FILE.read_text(encoding="utf-8") if text is None else text
    exporter = Exporter(replace_code(text))
    functions, switches = exporter.functions, {}
    for name in SWITCHES:
        changed = Exporter(replace_code(text, name)).functions
        switches[name] = {key: each for key, each in changed.items() if each != functions.get(key)}
    modules = exporter.module_tree(exporter.model)
    return {"functions": functions, "switches": switches, "modules": modules}


def replace_code(text: str, switch: str | None = None) -> str:
    """The code of the file as the page runs it, with a switch if one is named."""
    for old, new in [EXPLICIT_ATTENTION, *(SWITCHES[switch] if switch else [])]:
        if text.count(old) != 1:
            message = f"step-through needs {old!r} once; change the text in model_program.py too"
            raise SourceError(MODEL_FILE, 1, message)
        text = text.replace(old, new)
    return text


def make_model(module: Any) -> nn.Module:
    """An untrained model of the translator's configuration, from a copy of transformer.py.

    Attention multiplies its heads by `kept` with the switch "head".
    """
    config = read_file(TRANSLATOR_WEIGHTS)[0]["config"]
    with torch.random.fork_rng(devices=[]):
        model: nn.Module = module.Transformer(module.TransformerConfig(**config)).eval()
    for part in model.modules():
        if hasattr(part, "nhead"):
            vars(part)["kept"] = 1
    return model


class Exporter:
    """Exports the functions that a model of the file calls in Transformer.forward."""

    def __init__(self, text: str):
        tree = ast.parse(text)
        self.module = execute_module(tree)
        self.model = make_model(self.module)
        self.line = downloaded_line(text)
        self.definitions = dict(find_definitions(tree))
        self.names = bound_names(tree)
        self.classes = dict.fromkeys(type(module).__name__ for module in self.model.modules())
        self.functions: dict[str, Json] = {}
        self.attributes: set[str] = set()  # of modules, which the functions use
        for class_name in self.classes:
            self.reach(f"{class_name}.forward")

    def error(self, node: ast.expr | ast.stmt) -> SourceError:
        code = ast.unparse(node).partition("\n")[0]
        hint = "add it to model_program.py and to operations.js, or write it in another way"
        return SourceError(MODEL_FILE, node.lineno, f"step-through can't run `{code}`; {hint}")

    # Functions

    def reach(self, name: str) -> bool:
        """Export a function or method of the file; False if there is none of this name."""
        if name in self.definitions and name not in self.functions:
            self.functions[name] = None  # it may call itself
            self.functions[name] = self.function(self.definitions[name], name)
        return name in self.definitions

    def function(self, node: ast.FunctionDef, name: str) -> Json:
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
            raise self.error(node)
        args = [[argument.arg, self.line(argument.lineno)] for argument in arguments.args]
        for argument, default in zip(reversed(args), reversed(arguments.defaults), strict=False):
            argument.append(self.expression(default))
        return {
            "name": name,
            "line": self.line(node.lineno),
            "endLine": self.line((node.returns or node).end_lineno or node.lineno),
            "args": [each for each in args if each[0] != "self"],
            "body": self.block(node.body, name),
        }

    # Statements

    def block(self, nodes: Iterable[ast.stmt], name: str) -> list[Json]:
        return [each for node in nodes if (each := self.statement(node, name)) is not None]

    def statement(self, node: ast.stmt, name: str) -> Json:
        """None for one that computes nothing: a docstring, or a check that may raise an error."""
        first = self.line(node.lineno)
        lines = [first, self.line(node.end_lineno or node.lineno)]
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.If(body=[ast.Raise()], orelse=[]):
                return None
            case ast.Expr(value=ast.Call(func=ast.Name(id=check))) if check in self.definitions:
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
        raise self.error(node)

    def target(self, node: ast.expr) -> Json:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Tuple(elts=parts) if all(isinstance(part, ast.Name) for part in parts):
                return [self.target(part) for part in parts]
        raise self.error(node)

    # Expressions

    def expression(self, node: ast.expr) -> Json:
        match node:
            case ast.Constant(value=None | bool() | int() | float() as value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.Name(id=name):
                if self.reach(name) or name in self.names:
                    return name
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.expression(operand)]
            case (
                ast.BinOp(left=left, op=op, right=right)
                | ast.Compare(left=left, ops=[op], comparators=[right])
            ) if type(op) in OPERATORS:
                return [OPERATORS[type(op)], self.expression(left), self.expression(right)]
            case ast.IfExp(test=ast.Name(id=name), body=body) if name == EXPLICIT:
                return self.expression(body)
            case ast.IfExp(test=ast.Attribute(attr="training"), orelse=orelse):
                return self.expression(orelse)  # the model is in evaluation mode
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return ["tuple", *map(self.expression, parts)]
            case ast.Subscript(value=value, slice=index):
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                return ["[]", *map(self.expression, [value, *parts])]
            case ast.Slice(lower=lower, upper=upper, step=None):
                return ["slice", *(end and self.expression(end) for end in (lower, upper))]
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
        raise self.error(node)

    def call(self, node: ast.Call) -> Json:
        function, name = node.func, ast.unparse(node.func)
        operands = [self.expression(argument) for argument in node.args]
        keywords = {str(each.arg): self.expression(each.value) for each in node.keywords}
        if name not in FUNCTIONS:
            if isinstance(function, ast.Attribute) and f".{function.attr}" in FUNCTIONS:
                name, function = f".{function.attr}", function.value  # a method of a tensor
            else:
                name = "call"
            operands.insert(0, self.expression(function))
        known = keywords.keys() - {EXPLICIT} if name == "call" else KEYWORDS.get(name, set())
        if not keywords.keys() <= known:
            raise self.error(node)
        return [name, *operands, *([keywords] if keywords else [])]

    def attribute(self, node: ast.Attribute) -> Json:
        name = ast.unparse(node)
        if name in FUNCTIONS:
            return [name]
        owners = (*self.model.modules(), self.model.config)
        values = [getattr(each, node.attr) for each in owners if hasattr(each, node.attr)]
        is_data = any(isinstance(each, nn.Module) or not callable(each) for each in values)
        methods = [each for each in self.classes if self.reach(f"{each}.{node.attr}")]
        is_own = OWN_ATTRIBUTE.fullmatch(name) and (is_data or methods)
        if not is_own and node.attr not in ATTRIBUTES:
            raise self.error(node)
        self.attributes.add(node.attr)
        return [".", self.expression(node.value), node.attr]

    # Modules

    def module_tree(self, module: nn.Module) -> Json:
        """The class, the attributes that the functions use, the parameters and the parts."""
        kind = type(module).__name__
        if f"{kind}.forward" not in self.functions and kind not in MODULES:
            raise SourceError(MODEL_FILE, 1, f"step-through can't run the module {kind}")
        plain = {name: value for name, value in vars(module).items() if name in self.attributes}
        for name, value in plain.items():
            if is_dataclass(value):
                used = vars(value).keys() & self.attributes
                plain[name] = {key: getattr(value, key) for key in sorted(used)}
        tables = {}
        for name, table in module.named_buffers(recurse=False):
            if not torch.equal(table, self.module.sinusoidal_positional_encoding(*table.shape)):
                raise SourceError(MODEL_FILE, 1, f"step-through can't compute the buffer {name}")
            tables[name] = [*table.shape]
        parameters = module.named_parameters(recurse=False)
        tree = {
            "class": kind,
            "attributes": plain,
            "parameters": {name: [*tensor.shape] for name, tensor in parameters},
            "tables": tables,
            "children": {name: self.module_tree(each) for name, each in module.named_children()},
        }
        return {key: value for key, value in tree.items() if value}


def bound_names(tree: ast.Module) -> set[str]:
    """The arguments, variables and functions of a file."""
    names = set()
    for part in ast.walk(tree):
        match part:
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.Name(name, ast.Store()):
                names.add(name)
    return names
