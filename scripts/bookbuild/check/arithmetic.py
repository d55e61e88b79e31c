"""Compute the equations between numbers in formulas, like 0.70 · 0.27 = 0.19."""

import math
import re
from typing import Any, NamedTuple

import numpy as np

RULES = (  # from TeX to Python
    (r"\\(?:begin|end){aligned}|\\\\\s*&{}|&", ""),  # an equation on two lines
    (r"\\left|\\right|\\[;!]|[.,]?\s*$|(?<=\d)\\,(?=\d)", ""),
    (r"\\,|\\q?quad|\s+", " "),
    (r"\\[td]?frac\s*(?:{([^{}]*)}|(\d))\s*(?:{([^{}]*)}|(\d))", r"((\1\2)/(\3\4))"),
    (r"\\sqrt\s*(?:{([^{}]*)}|(\d))", r"sqrt(\1\2)"),
    (r"\\(sin|cos|ln)\s*(?:([\d.]+|\\pi)|(?=\())", r"\1(\2)"),
    (r"(sin|cos|ln)\(\)", r"\1"),
    (r"\^(?:{([^{}]*)}|(\d))", r"**(\1\2)"),
    (r"\\cdot", "*"),
    (r"\\(max|pi)", r"\1"),
    (r"\s*\\%", "*0.01"),
    (r"(?<!max)\(([^()]*,[^()]*)\)", r"vector(\1)"),
    (r"(?<=[\d)])\s*(?=[a-z(])", "*"),
)
NAMES: dict[str, Any] = {
    **{"sin": math.sin, "cos": math.cos, "ln": math.log, "sqrt": math.sqrt, "max": max},
    **{"e": math.e, "pi": math.pi, "vector": lambda *numbers: np.array(numbers)},
}
RELATION = re.compile(r"(=|\\approx)")


class Equation(NamedTuple):
    """Two neighboring sides of a formula as Python expressions."""

    left: str
    right: str
    tolerance: float  # half a unit in the last digit of the right side

    def is_right(self) -> bool:
        difference = compute(self.left) - compute(self.right)
        return bool(np.all(np.abs(difference) <= self.tolerance + 1e-9))


def equations(tex: str) -> list[Equation]:
    """The equations of a formula whose sides contain only numbers."""
    first, *rest = RELATION.split(tex)
    left, found = python_expression(first), []
    for relation, side in zip(rest[::2], rest[1::2], strict=True):
        right = python_expression(side)
        if left and right:
            found.append(Equation(left, right, rounding(right, relation)))
        left = right
    return found


def python_expression(tex: str) -> str | None:
    """The Python expression of TeX that contains only numbers, else None."""
    for pattern, replacement in RULES:
        tex = re.sub(pattern, replacement, tex)
    words = re.findall(r"[A-Za-z\\{}_&^]+", tex)
    return tex.strip() if re.search(r"\d", tex) and all(word in NAMES for word in words) else None


def rounding(expression: str, relation: str) -> float:
    """By how much rounding can change a side; a whole number is rounded only after ≈."""
    digits = [len(each) for each in re.findall(r"(?<![\w.(*])\d+\.?(\d*)", expression)]
    most = max(digits, default=0)
    unit = 10.0**-most * (0.01 if "*0.01" in expression else 1)
    return 0.5 * unit * digits.count(most) if most or relation != "=" else 0


def compute(expression: str) -> Any:
    return eval(expression, {"__builtins__": {}}, NAMES)  # python_expression allows only arithmetic
