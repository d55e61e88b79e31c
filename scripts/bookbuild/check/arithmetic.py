"""Finds the equations between numbers in formulas, like 0.70 · 0.27 = 0.19.

tests/site/test_numbers.py computes them.
"""

import re
from typing import NamedTuple

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
NAMES = {"sin", "cos", "ln", "sqrt", "max", "e", "pi", "vector"}  # in a Python expression
RELATION = re.compile(r"(=|\\approx)")


class Equation(NamedTuple):
    """Two neighboring sides of a formula as Python expressions."""

    left: str
    relation: str
    right: str


def equations(tex: str) -> list[Equation]:
    """The equations of a formula whose sides contain only numbers."""
    first, *rest = RELATION.split(tex)
    left, found = python_expression(first), []
    for relation, side in zip(rest[::2], rest[1::2], strict=True):
        right = python_expression(side)
        if left and right:
            found.append(Equation(left, relation, right))
        left = right
    return found


def python_expression(tex: str) -> str | None:
    """The Python expression of TeX that contains only numbers, else None."""
    for pattern, replacement in RULES:
        tex = re.sub(pattern, replacement, tex)
    words = re.findall(r"[A-Za-z\\{}_&^]+", tex)
    return tex.strip() if re.search(r"\d", tex) and NAMES.issuperset(words) else None
