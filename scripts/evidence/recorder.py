"""Records what the assertions of a test compare, such as 0.37 < 0.5.

The tests of claims, and the modules of this folder, are imported with their assertions changed:
they call the functions record_… below. Of an assertion that runs several times, as in a test with
parameters, the case closest to its bound is kept.
"""

import ast
import importlib.util
import itertools
import operator
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.testing._comparison import default_tolerances

from bookbuild.pages.paths import CLAIMS
from evidence.generated_mutants import Coverage, measure

MAX_COMPARISONS = 3  # of a claim
MAX_LENGTH = 60  # of a text
OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Lt": ("<", operator.lt),
    "LtE": ("≤", operator.le),
    "Gt": (">", operator.gt),
    "GtE": ("≥", operator.ge),
    "Eq": ("=", operator.eq),
    "NotEq": ("≠", operator.ne),
    "In": ("in", lambda one, other: one in other),
    "NotIn": ("not in", lambda one, other: one not in other),
    "Is": ("is", operator.is_),
    "IsNot": ("is not", operator.is_not),
}
CLOSE = {  # functions of approximate equality: their tolerances, and the defaults of these
    "assert_close": ("rtol", "atol", None),
    "torch.testing.assert_close": ("rtol", "atol", None),  # they depend on the numbers' type
    "torch.allclose": ("rtol", "atol", (1e-5, 1e-8)),
    "np.testing.assert_allclose": ("rtol", "atol", (1e-7, 0)),
    "math.isclose": ("rel_tol", "abs_tol", (1e-9, 0)),
}
BOUND, EQUAL, TEXT, OTHER = range(4)  # the ranks of comparisons, the most informative first


class Comparison(NamedTuple):
    """What an assertion compares, as a text. The gap is 0 if the value is equal to its bound."""

    rank: int
    gap: float
    text: str


Site = tuple[str, int, int]  # the file, line and column of a comparison
RECORDED: dict[Site, Comparison] = {}


def keep(site: Site, rank: int, gap: float, text: str) -> None:
    new = Comparison(rank, gap, text)
    RECORDED[site] = min(RECORDED.get(site, new), new, key=lambda each: each[:2])


def selected_texts(recorded: dict[Site, Comparison]) -> list[str]:
    """The most informative comparisons, in the order of the code."""
    sites = sorted(recorded, key=lambda site: recorded[site][:2])
    known = [site for site in sites if recorded[site].rank != OTHER]
    different = {recorded[site].text: site for site in reversed(known or sites)}
    best = sorted(different.values(), key=sites.index)[:MAX_COMPARISONS]
    return [recorded[site].text for site in sorted(best)]


# What the changed assertions call


def record_comparison(
    site: Site, label: str, sources: tuple[str, str], names: tuple[str, ...], *values: Any
) -> Any:
    """The value of a comparison such as 0 < x < 1.

    The sources are the code of the first and the last value; the label is that of the first value
    if this is an output of an example.
    """
    for name, (one, other) in zip(names, itertools.pairwise(values), strict=True):
        result = OPERATORS[name][1](one, other)
        if not result:
            return result
    signs = [OPERATORS[name][0] for name in names]
    numbers: list[Any] = [*map(number, values)]
    texts = number_texts(*numbers) if None not in numbers else []
    if names == ("Eq",) and hasattr(values[1], "expected"):  # pytest.approx(…)
        keep_differences(site, *approximate_differences(*values))
    elif texts and "=" not in signs:
        gaps = [gap(one, other) for one, other in itertools.pairwise(numbers)]
        start = f"{label} = " if label else ""
        parts = [f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True)]
        keep(site, EQUAL if "≠" in signs else BOUND, min(gaps), start + texts[0] + "".join(parts))
    elif {*signs} == {"="}:
        keep(site, EQUAL if texts else TEXT, 0, f"{label or sources[0]} = {short(values[-1])}")
    else:
        first = sources[0] if signs[0].startswith("is") else short(values[0])
        keep(site, OTHER, 0, f"{first} {signs[-1]} {sources[1]}")
    return True


def record_close(site: Site, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of CLOSE that also records the differences."""

    def recorded(*values: Any, **options: Any) -> Any:
        result = function(*values, **options)
        if result is not False:
            keep_differences(site, *tensor_differences(name, *values, **options))
        return result

    return recorded


def record_text(site: Site, rank: int, text: str, value: Any = True) -> Any:
    """The value of any other assertion; or an error or a warning that the test expects."""
    if value:
        keep(site, rank, 0, text)
    return value


def keep_differences(site: Site, differences: Any, bounds: Any) -> None:
    """Keep the difference that is closest to its bound."""
    for difference, bound in zip(np.ravel(differences), np.ravel(bounds), strict=True):
        if bound:
            text = " ≤ ".join(number_texts(float(difference), float(bound), digits=2))
            keep(site, BOUND, 1 - difference / bound, f"Δ = {text}")
        else:
            keep(site, EQUAL, 0, "Δ = 0")


# Numbers


def number(value: Any) -> float | int | None:
    """A number, or None."""
    if isinstance(value, torch.Tensor | np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def gap(one: float, other: float) -> float:
    """The difference of two numbers as a fraction of the larger one."""
    largest = max(abs(one), abs(other))
    return abs(one - other) / largest if 0 < largest < float("inf") else float(largest > 0)


def number_texts(*numbers: float, digits: int = 3) -> list[str]:
    """Numbers with some significant digits; with more if different numbers would look equal."""
    lengths = [len(str(int(abs(x)))) if abs(x) < 1e6 else 0 for x in numbers]  # before the point
    texts = [
        str(x) if isinstance(x, int) else f"{x:.{max(digits, length)}g}"
        for x, length in zip(numbers, lengths, strict=True)
    ]
    if digits < 17 and len({*texts}) < len({*numbers}):
        return number_texts(*numbers, digits=digits + 1)
    return texts


def approximate_differences(actual: Any, approximate: Any) -> tuple[list[float], list[float]]:
    """The differences from the numbers of pytest.approx, and their bounds."""
    expected = approximate.expected
    if isinstance(expected, dict):
        actual, expected = [actual[key] for key in expected], [*expected.values()]
    pairs = [*zip(np.ravel(actual).tolist(), np.ravel(expected).tolist(), strict=True)]
    options = {"rel": approximate.rel, "abs": approximate.abs}
    bounds = [pytest.approx(other, **options).tolerance for _, other in pairs]  # type: ignore[missing-attribute]
    return [abs(one - other) for one, other in pairs], bounds


def tensor_differences(name: str, actual: Any, expected: Any, **options: Any) -> tuple[Any, Any]:
    """The difference of each two tensors that is closest to its bound, and this bound."""
    if isinstance(actual, list | tuple):
        tensors = zip(actual, expected, strict=True)
        pairs = [tensor_differences(name, *each, **options) for each in tensors]
        return [difference for difference, _ in pairs], [bound for _, bound in pairs]
    one, other = torch.as_tensor(actual).detach(), torch.as_tensor(expected).detach()
    *names, defaults = CLOSE[name]
    given = [options.get(each) for each in names]
    defaults = defaults or default_tolerances(one, other)
    rtol, atol = (default if x is None else x for x, default in zip(given, defaults, strict=True))
    differences = (one.double() - other.double()).abs().flatten()
    bounds = (atol + rtol * other.double().abs()).expand(one.shape).flatten()
    known = differences.isfinite() & bounds.isfinite()  # an infinite one is equal to the other
    if not known.any():
        return [], []
    differences, bounds = differences[known], bounds[known]
    closest = (differences / bounds).nan_to_num().argmax()
    return differences[closest].item(), bounds[closest].item()


def short(value: Any) -> str:
    """A value, or code, as a text for a table."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"


# Changing the assertions


class Instrument(ast.NodeTransformer):
    """Makes the assertions of a file record what they compare."""

    def __init__(self, file: str):
        self.file = file

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self.recorded(node.test)
        return self.generic_visit(node)

    def recorded(self, node: ast.expr) -> ast.expr:
        """An expression that must be true, with calls that record it."""
        match node:
            case ast.BoolOp(op=ast.And()):
                node.values = [self.recorded(value) for value in node.values]
            case ast.Call(ast.Name("all"), [ast.GeneratorExp() | ast.ListComp() as items]):
                items.elt = self.recorded(items.elt)
            case ast.Call(function) if ast.unparse(function) in CLOSE:
                pass  # visit_Attribute changes it
            case ast.Call(ast.Attribute(attr="equal")):
                return self.text(node, EQUAL, "Δ = 0", node)
            case ast.Compare(first, _, others):
                texts = (
                    ast.Constant(output_label(first)),
                    constants(short(ast.unparse(each)) for each in (first, others[-1])),
                    constants(type(operator).__name__ for operator in node.ops),
                )
                return self.call("comparison", node, *texts, first, *others)
            case _:
                return self.text(node, OTHER, short(ast.unparse(node)), node)
        return node

    def visit_Attribute(self, node: ast.Attribute | ast.Name) -> ast.AST:
        name = ast.unparse(node)
        if name in CLOSE:
            return self.call("close", node, ast.Constant(name), node)
        return self.generic_visit(node)

    visit_Name = visit_Attribute

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        self.generic_visit(node)
        statements: list[ast.stmt] = [node]
        for item in node.items:
            match item.context_expr:
                case ast.Call(ast.Attribute(attr="raises" | "warns" as verb), [error]) as call:
                    text = self.text(call, TEXT, f"{verb} {ast.unparse(error)}")
                    statements.insert(0, ast.Expr(text))
        return statements

    def text(self, node: ast.expr, rank: int, text: str, *value: ast.expr) -> ast.Call:
        return self.call("text", node, ast.Constant(rank), ast.Constant(text), *value)

    def call(self, what: str, node: ast.expr, *arguments: ast.expr) -> ast.Call:
        site = constants((self.file, node.lineno, node.col_offset))
        return ast.Call(ast.Name(f"record_{what}", ast.Load()), [site, *arguments], [])


def constants(values: Iterable[str | int]) -> ast.Tuple:
    return ast.Tuple([*map(ast.Constant, values)], ast.Load())


def output_label(node: ast.expr) -> str:
    """The label of an output: "share" for float(shown["share"]); empty for any other code."""
    match node:
        case ast.Call(ast.Name("float" | "int" | "number"), [value]):
            return output_label(value)
        case ast.Subscript(slice=ast.Constant(str(label))):
            return label
    return ""


class Loader(SourceFileLoader):
    """Imports a file with its assertions changed; doesn't cache the code."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = Instrument(Path(path).name).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        for name, function in globals().items():
            if name.startswith("record_"):
                setattr(module, name, function)
        super().exec_module(module)


class Finder:
    """Finds the tests of claims, and the modules of this package."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, module = name.rpartition(".")
        folder = {"": CLAIMS, "evidence": Path(__file__).parent}.get(package)
        file = folder / f"{module}.py" if folder else None
        if not file or not file.is_file():
            return None
        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, str(file)))


class Tests:
    """A pytest plugin that keeps the comparisons of each test."""

    def __init__(self) -> None:
        self.comparisons: dict[str, dict[Site, Comparison]] = defaultdict(dict)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        known = self.comparisons[item.name.partition("[")[0]]
        RECORDED.clear()
        RECORDED.update(known)
        yield
        known |= RECORDED


def record(test_file: str) -> tuple[dict[str, list[str]], Coverage]:
    """The comparisons of each test of a file, and what it executes. Raises ValueError if one fails.

    Call it in a fresh process, which has not imported anything from snippets/.
    """
    sys.meta_path.insert(0, Finder)  # type: ignore[arg-type]
    tests = Tests()
    coverage = measure(test_file, tests)
    return {test: selected_texts(found) for test, found in tests.comparisons.items()}, coverage
