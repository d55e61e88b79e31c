"""The widget of the chapter on attention: numbers to edit, and every step computed from them."""

import itertools
import math
import random
import re

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import transformer
from browser_pages import BASE_URL, axe_errors
from built_pages import assert_no_errors

WIDGET = "[data-widget=attention]"
COLUMNS_BY_STEP = {"scores": 3, "scaled": 3, "powers": 3, "weights": 3, "output": 2}

english_only = pytest.mark.parametrize("language", ["en"])
wide_only = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def widget(checked_page: Page, home_url: str) -> Locator:
    """The live widget with its initial numbers."""
    checked_page.goto(f"{home_url}attention/", wait_until="domcontentloaded")
    widget = checked_page.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    expect(widget.locator("table")).to_have_count(8)
    return widget


def table_cell(widget: Locator, name: str, row: int, column: int) -> Locator:
    return widget.locator(f'[data-at="{name} {row} {column}"]')


def cell_input(widget: Locator, name: str, row: int, column: int) -> Locator:
    return table_cell(widget, name, row, column).locator("input")


def cell_text(widget: Locator, name: str, row: int, column: int) -> str:
    return table_cell(widget, name, row, column).locator("span").inner_text()


def select_cell(widget: Locator, *position) -> None:
    """Select a cell with the keyboard."""
    cell_input(widget, *position).focus()
    cell_input(widget, *position).press("Space")


def explanation_text(widget: Locator) -> str:
    return widget.locator(".by-hand__explanation p").inner_text()


def parse_number(text: str) -> float:
    """The number that a cell shows: −0.707, or 2·10⁻⁷."""
    plain = text.replace("−", "-").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(plain.replace("·10", "e"))


def expected_results(entries: dict, divides: bool) -> dict:
    """Weights and output of scaled_dot_product_attention of transformer.py."""
    query, key, value = (torch.tensor(each, dtype=torch.float64) for each in entries.values())
    if not divides:
        query = query * math.sqrt(query.size(-1))  # the function divides by it again
    output, weights = transformer.scaled_dot_product_attention(query, key, value)
    return {"output": output, "weights": weights}


def random_entries(rng: random.Random, digits: int) -> dict:
    return {
        name: [[round(rng.uniform(-4, 4), digits) for _ in range(2)] for _ in range(3)]
        for name in ("query", "key", "value")
    }


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
    picture = checked_page.evaluate(PICTURE_TEXTS_SCRIPT, WIDGET)
    assert len(picture) == 120
    live = checked_page.evaluate(LIVE_TEXTS_SCRIPT, WIDGET)
    for text, other in zip(live, picture, strict=True):
        if "." in other:
            assert float(text.replace("−", "-")) == pytest.approx(
                float(other.replace("−", "-")), abs=0.0055
            )
        else:
            assert text == other


ATTEND_SCRIPT = """async ([module, given]) => {
  const { attend } = await import(module);
  return given.map(([entries, divides]) => attend(entries, divides));
}"""


def test_attention_in_javascript_equals_attention_in_pytorch(page: Page):
    rng = random.Random(5)
    inputs = [(random_entries(rng, digits=15), divides) for divides in (True, False) * 12]
    page.goto(f"{BASE_URL}404.html")  # a light page
    module = f"{BASE_URL}assets/widgets/attention-numbers.js"
    computed = page.evaluate(ATTEND_SCRIPT, [module, inputs])
    for (entries, divides), steps in zip(inputs, computed, strict=True):
        for name, theirs in expected_results(entries, divides).items():
            ours = torch.tensor(steps[name], dtype=torch.float64)
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


@english_only
def test_typed_numbers_and_the_option_change_the_shown_results(widget):
    entries = random_entries(random.Random(7), digits=1)
    for name, rows in entries.items():
        for i, j in itertools.product(range(3), range(2)):
            cell_input(widget, name, i, j).fill(str(rows[i][j]))
    for divides in (False, True):
        widget.get_by_role("checkbox").set_checked(divides)
        for name, expected in expected_results(entries, divides).items():
            table = table_cell(widget, name, 0, 0).locator("xpath=ancestor::tbody")
            shown = table.locator("td span").all_inner_texts()
            for text, number in zip(shown, expected.flatten().tolist(), strict=True):
                assert parse_number(text) == pytest.approx(number, abs=5.1e-4)


PYTHON_OPERATORS = {"·": "*", "√2": "math.sqrt(2)", "e^": "math.e**", "−": "-"}


@wide_only
def test_the_explained_arithmetic_of_every_cell_is_correct(widget):
    errors = []
    for name, columns in COLUMNS_BY_STEP.items():
        for i, j in itertools.product(range(3), range(columns)):
            select_cell(widget, name, i, j)
            line = explanation_text(widget)
            left, right = re.split("[:：] ?", line)[1].split("=")
            for sign, python in PYTHON_OPERATORS.items():
                left, right = left.replace(sign, python), right.replace(sign, python)
            value = eval(left, {"math": math})  # our own digits and signs
            if value != pytest.approx(float(right), abs=0.02):
                errors.append(f"{name} {i} {j}: {line}")
    assert_no_errors(errors)


@english_only
def test_every_control_works_with_the_keyboard(checked_page, widget):
    cell_input(widget, "query", 1, 0).focus()
    checked_page.keyboard.press("ArrowUp")
    assert cell_text(widget, "scores", 1, 0) == "5"
    widget.get_by_role("checkbox").focus()
    checked_page.keyboard.press("Space")
    assert cell_text(widget, "scaled", 1, 0) == "5"
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
    cell_input(widget, "query", 1, 0).focus()
    widget.locator("input[type=range]").focus()  # changes the last focused entry
    checked_page.keyboard.press("End")
    expect(cell_input(widget, "query", 1, 0)).to_have_value("10")
    widget.get_by_role("button").focus()
    checked_page.keyboard.press("Enter")
    assert cell_text(widget, "weights", 1, 0) == "0.768"
    expect(widget.get_by_role("checkbox")).to_be_checked()


@wide_only
@english_only
def test_invalid_numbers_change_nothing(widget):
    entry = cell_input(widget, "query", 1, 0)
    for typed in ("", "-", "99", "-1e3"):
        entry.fill("3")
        entry.fill("")
        entry.press_sequentially(typed)
        expect(entry).to_have_attribute("aria-invalid", "true")
        entry.blur()
        assert float(entry.input_value()) == (9 if typed == "99" else -1 if "e" in typed else 3)
        expect(entry).not_to_have_attribute("aria-invalid", "true")


# The element that covers a focused input, if any; focusing scrolls the input into view.
COVERING_ELEMENT_SCRIPT = """(input) => {
  input.focus();
  const { left, top, width, height } = input.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there === input || input.contains(there) ? "" : there?.outerHTML.slice(0, 99) ?? "out";
}"""


def test_controls_are_large_enough_not_covered_and_accessible(checked_page, widget, language):
    sizes = widget.locator("td input, button, label").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
    )
    assert len(sizes) == 18 + 4 * 9 + 6 + 1 + 2
    assert min(map(min, sizes)) >= 24
    for entry in widget.locator("input").all()[::4]:
        assert entry.evaluate(COVERING_ELEMENT_SCRIPT) == ""
    select_cell(widget, "output", 1, 0)
    name = {"en": "8.613, Output of work, number 1", "zh": "8.613, work 的输出，第 1 个数值"}
    expect(cell_input(widget, "output", 1, 0)).to_have_accessible_name(name[language])
    expect(widget.get_by_role("status")).to_have_text(explanation_text(widget))
    assert explanation_text(widget).endswith("0.768 · 10 + 0.045 · 0 + 0.187 · 5 = 8.613")
    for scheme in ("light", "dark"):
        checked_page.emulate_media(color_scheme=scheme)
        assert_no_errors(axe_errors(checked_page, WIDGET))
