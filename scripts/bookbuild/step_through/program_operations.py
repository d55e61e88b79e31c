"""What the interpreter of the page Step through knows, by the names in operations.js."""

import ast

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
# Functions and constants of modules, and methods of tensors, with their keyword arguments.
FUNCTIONS: dict[str, set[str]] = {
    "F.dropout": set(),
    "F.layer_norm": set(),
    "math.sqrt": set(),
    "torch.bool": set(),
    "torch.finfo": set(),
    "torch.ones": {"dtype", "device"},
    ".flatten": set(),
    ".masked_fill": set(),
    ".relu": set(),
    ".size": set(),
    ".softmax": {"dim"},
    ".transpose": set(),
    ".tril": set(),
    ".unflatten": set(),
}
ATTRIBUTES = {"device", "dtype", "min", "shape"}  # of other things than modules
MODULES = {"Dropout", "Embedding", "Identity", "Linear", "ModuleList"}  # of torch.nn
