"""The widget of the chapter on attention: numbers to edit, and every step computed from them."""

import itertools
import math
import random
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

import transformer
from browser_pages import COVERING_ELEMENT_SCRIPT, check_accessibility, parse_number
from built_pages import assert_no_errors

WIDGET = "attention"
COLUMNS_BY_STEP = {"scores": 3, "scaled": 3, "powers": 3, "weights": 3, "output": 2}

english_only = pytest.mark.parametrize("language", ["en"])
wide_only = pytest.mark.parametrize("width", [1280])


def table_cell(widget: Locator, name: str, row: int, column: int) -> Locator:
    return widget.locator(f'[data-at="{name} {row} {column}"]')


def cell_input(widget: Locator, name: str, row: int, column: int) -> Locator:
    return table_cell(widget, name, row, column).locator("input")


def select_cell(widget: Locator, *position) -> str:
    """Select a cell with the keyboard; returns its explanation."""
    cell_input(widget, *position).press("Space")
    return widget.locator(".by-hand__explanation p").inner_text()


def expected_results(entries: dict, divides: bool) -> dict:
    """Weights and output of scaled_dot_product_attention of transformer.py."""
    query, key, value = (torch.tensor(each, dtype=torch.float64) for each in entries.values())
    if not divides:
        query = query * math.sqrt(query.size(-1))  # the function divides by it again
    output, weights = transformer.scaled_dot_product_attention(query, key, value)
    return {"output": output, "weights": weights}


# Every text of the picture, and every number and word of the live tables, in their order.
PICTURE_TEXTS_SCRIPT = """async (selector) => {
  const page = new DOMParser().parseFromString(await (await fetch("")).text(), "text/html");
  return [...page.querySelectorAll(`${selector} svg text`)].map((each) => each.textContent);
}"""
LIVE_TEXTS_SCRIPT = """(selector) => [...document.querySelectorAll(
  `${selector} :is(caption > *, th, td > input[type=number], td > span)`)]
  .map((each) => (each.value ?? each.textContent).replace("-", "−"))"""


@wide_only
def test_the_live_tables_start_with_the_numbers_of_the_picture(checked_page, widget):
    """The picture has two decimals, so that its numbers are legible on a phone."""
    picture = checked_page.evaluate(PICTURE_TEXTS_SCRIPT, f"[data-widget={WIDGET}]")
    assert len(picture) == 120
    live = checked_page.evaluate(LIVE_TEXTS_SCRIPT, f"[data-widget={WIDGET}]")
    for text, other in zip(live, picture, strict=True):
        if "." in other:
            assert parse_number(text) == pytest.approx(parse_number(other), abs=0.0055)
        else:
            assert text == other


@english_only
def test_typed_numbers_and_the_option_change_the_shown_results(widget):
    rng = random.Random(7)
    entries = {
        name: [[round(rng.uniform(-4, 4), 1) for _ in range(2)] for _ in range(3)]
        for name in ("query", "key", "value")
    }
    for name, rows in entries.items():
        for i, j in itertools.product(range(3), range(2)):
            cell_input(widget, name, i, j).fill(str(rows[i][j]))
    for divides in (False, True):
        widget.get_by_role("checkbox").set_checked(divides)
        for name, expected in expected_results(entries, divides).items():
            table = table_cell(widget, name, 0, 0).locator("xpath=ancestor::tbody")
            shown = map(parse_number, table.locator("td span").all_inner_texts())
            assert [*shown] == pytest.approx(expected.flatten().tolist(), abs=5.1e-4)


PYTHON_OPERATORS = {"·": "*", "√2": "math.sqrt(2)", "e^": "math.e**", "−": "-"}


@wide_only
def test_the_explained_arithmetic_of_every_cell_is_correct(widget):
    errors = []
    for name, columns in COLUMNS_BY_STEP.items():
        for i, j in itertools.product(range(3), range(columns)):
            line = select_cell(widget, name, i, j)
            left, right = re.split("[:：] ?", line)[1].split("=")
            for sign, python in PYTHON_OPERATORS.items():
                left, right = left.replace(sign, python), right.replace(sign, python)
            value = eval(left, {"math": math})  # our own digits and signs
            if value != pytest.approx(float(right), abs=0.02):
                errors.append(f"{name} {i} {j}: {line}")
    assert_no_errors(errors)


@english_only
def test_every_control_works_with_the_keyboard(checked_page, widget):
    score, scaled, weight = (
        table_cell(widget, name, 1, 0).locator("span") for name in ("scores", "scaled", "weights")
    )
    entry, option = cell_input(widget, "query", 1, 0), widget.get_by_role("checkbox")
    entry.press("ArrowUp")
    expect(score).to_have_text("5")
    option.press("Space")
    expect(scaled).to_have_text("5")
    select_cell(widget, "weights", 0, 0)
    for key, place in (
        ("ArrowDown", (1, 0)),
        ("ArrowRight", (1, 1)),
        ("ArrowUp", (0, 1)),
        ("ArrowUp", (0, 1)),  # there is no cell above
    ):
        checked_page.keyboard.press(key)
        expect(cell_input(widget, "weights", *place)).to_be_checked()
        expect(cell_input(widget, "weights", *place)).to_be_focused()
    expect(widget.locator("input[type=radio]:checked")).to_have_count(1)
    entry.focus()
    widget.locator("input[type=range]").press("End")  # changes the last focused entry
    expect(entry).to_have_value("10")
    widget.get_by_role("button").press("Enter")
    expect(weight).to_have_text("0.768")
    expect(option).to_be_checked()


@wide_only
@english_only
def test_invalid_numbers_change_nothing(widget):
    entry = cell_input(widget, "query", 1, 0)
    for typed, left in (("", 3), ("-", 3), ("99", 9), ("-1e3", -1)):
        entry.fill("3")
        entry.fill("")
        entry.press_sequentially(typed)
        expect(entry).to_have_attribute("aria-invalid", "true")
        entry.blur()
        expect(entry).to_have_value(str(left))
        expect(entry).not_to_have_attribute("aria-invalid", "true")


def test_controls_are_not_covered_and_accessible(checked_page, widget, language):
    for entry in widget.locator("input").all()[::4]:
        assert entry.evaluate(COVERING_ELEMENT_SCRIPT) == ""
    explanation = select_cell(widget, "output", 1, 0)
    name = {"en": "8.613, Output of work, number 1", "zh": "8.613, work 的输出，第 1 个数值"}
    expect(cell_input(widget, "output", 1, 0)).to_have_accessible_name(name[language])
    expect(widget.get_by_role("status")).to_have_text(explanation)
    assert explanation.endswith("0.768 · 10 + 0.045 · 0 + 0.187 · 5 = 8.613")
    check_accessibility(checked_page, f"[data-widget={WIDGET}]")
