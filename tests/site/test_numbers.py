"""Where the numbers of the pages come from: code, or arithmetic that is shown and checked here."""

import math
import re
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from bookbuild.check.arithmetic import NAMES, Equation, equations
from bookbuild.mkdocs_site.formulas import ARITHMETIC_TEST
from bookbuild.pages.page import VALUE, SourcePage, blank_fences, list_pages, prose
from bookbuild.pages.values import resolve_value, source_file
from built_pages import ROOT, BuiltPage, assert_no_errors, text_with_quiz
from html_tree import Element
from page_parts import DISPLAYED_FORMULA, INLINE_FORMULA

VALUES: dict[str, Any] = {
    **{"sin": math.sin, "cos": math.cos, "ln": math.log, "sqrt": math.sqrt, "max": max},
    **{"e": math.e, "pi": math.pi, "vector": lambda *numbers: np.array(numbers)},
}


def compute(expression: str) -> Any:
    """The value of a side; python_expression allows only arithmetic."""
    assert VALUES.keys() == NAMES
    return eval(expression, {"__builtins__": {}}, VALUES)


def rounding(equation: Equation) -> float:
    """By how much rounding can change the right side; a whole number is rounded only after ≈."""
    digits = [len(each) for each in re.findall(r"(?<![\w.(*])\d+\.?(\d*)", equation.right)]
    most = max(digits, default=0)
    unit = 10.0**-most * (0.01 if "*0.01" in equation.right else 1)
    return 0.5 * unit * digits.count(most) if most or equation.relation != "=" else 0


def is_right(equation: Equation) -> bool:
    difference = compute(equation.left) - compute(equation.right)
    return bool(np.all(np.abs(difference) <= rounding(equation) + 1e-9))


def source_links(page: BuiltPage) -> list[Element]:
    return page.article.find("a", "number")


def linked_file(link: Element) -> str:
    return urlsplit(link.attributes["href"]).path.partition("/blob/main/")[2]


def shown_equations(page: SourcePage) -> list[str]:
    """The formulas of a page and its quiz that are equations between numbers."""
    return equations_in(prose(text_with_quiz(page)))


def equations_in(text: str) -> list[str]:
    formulas = [*INLINE_FORMULA.findall(text), *DISPLAYED_FORMULA.findall(text)]
    return [tex for tex in formulas if equations(tex)]


def test_every_computed_number_links_to_the_file_that_computes_it(built_pages):
    for page in built_pages:
        references = VALUE.findall(blank_fences(page.source.text))
        expected = Counter((resolve_value(each), source_file(each)) for each in references)
        links = [each for each in source_links(page) if linked_file(each) != ARITHMETIC_TEST]
        assert Counter((each.text(), linked_file(each)) for each in links) == expected, page


def test_every_source_is_a_file_of_the_repository_of_this_site(built_pages):
    for page in built_pages:
        (repository,) = {link.attributes["href"] for link in page.tree.find("a", "md-source")}
        for link in source_links(page):
            assert link.attributes["href"] == f"{repository}/blob/main/{linked_file(link)}"
            assert (ROOT / linked_file(link)).is_file()


def test_every_equation_between_numbers_is_marked_with_this_test(built_pages):
    """Except those in a summary, which is a control itself."""
    for page in built_pages:
        links = [each for each in source_links(page) if linked_file(each) == ARITHMETIC_TEST]
        summaries = re.findall("<summary.*?</summary>", text_with_quiz(page.source), flags=re.S)
        in_summaries = [tex for each in summaries for tex in equations_in(each)]
        assert len(links) == len(shown_equations(page.source)) - len(in_summaries), page
    assert (ROOT / ARITHMETIC_TEST).samefile(__file__)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_equation_between_numbers_is_right(language):
    found = [
        (page, equation)
        for page in list_pages(language)
        for tex in shown_equations(page)
        for equation in equations(tex)
    ]
    assert len(found) > 50
    assert_no_errors(
        f"{page.display_path}: {equation.left} is not {equation.right}"
        for page, equation in found
        if not is_right(equation)
    )


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("0.70 \\cdot 0.27 = 0.19", "0.70 \\cdot 0.27 = 0.18"),
        ("\\frac{24}{27} \\approx 0.89", "\\frac{24}{27} \\approx 0.88"),
        ("1 - 0.9^2 = 19\\,\\%", "1 - 0.9^2 = 20\\,\\%"),
        ("\\theta_1 = 10^{-2} = 1/100", "\\theta_1 = 10^{-2} = 1/10"),
        ("e^2 + 1 \\approx 7.39 + 1 = 8.39", "e^2 + 1 \\approx 7.39 + 1 = 8.40"),
        ("4 \\ln 0.8 = -0.89", "4 \\ln 0.8 = 0.89"),
    ],
)
def test_a_wrong_equation_is_found(right, wrong):
    assert all(map(is_right, equations(right)))
    assert not all(map(is_right, equations(wrong)))


@pytest.mark.parametrize("tex", ["d = 512", "\\sin^2 + \\cos^2 = 1", "x = (1, 3)", "QK^\\top"])
def test_a_formula_with_letters_is_no_equation_between_numbers(tex):
    assert equations(tex) == []
