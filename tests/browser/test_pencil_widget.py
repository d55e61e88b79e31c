"""The pencil model on the page By hand: change the sentence or a weight, and the tables follow."""

import copy
import json
import math
import random
import re

import pytest
from playwright.sync_api import Locator, expect

from bookbuild.generated.pencil_steps import SENTENCE
from bookbuild.pages import paths
from browser_pages import COVERING_ELEMENT_SCRIPT, RECORD_SHIFTS_SCRIPT, check_accessibility
from by_hand import ByHand

WIDGET = "pencil"
PENCIL = json.loads((paths.SNIPPETS / "pencil.json").read_text(encoding="utf-8"))
QUERY = "encoder.layers.0.self_attention.query"
KNOWN_WORDS = [word for word in PENCIL["source"] if not word.startswith("<")]

english_only = pytest.mark.parametrize("language", ["en"])
wide_only = pytest.mark.parametrize("width", [1280])


def format_number(value: float, decimals: int) -> str:
    digits = f"{abs(value):.{decimals}f}".removesuffix(f".{'0' * decimals}")
    digits = "∞" if value == -math.inf else digits
    return f"−{digits}" if value < 0 and digits != "0" else digits


def expected_texts(pencil: dict, sentence: list[str], is_exact: bool) -> tuple[str, dict]:
    """The translation with its probabilities, and the texts of each table, from by_hand.py.

    A table has a row for each word, which begins with the word.
    """
    decimals = 4 if is_exact else 2
    model = ByHand(pencil, None if is_exact else 2)
    model.translate(sentence)
    texts = {
        name: [
            [word, *(format_number(value, decimals) for value in row)]
            for word, row in zip(rows, values, strict=True)
        ]
        for name, rows, _, values in model.tables
    }
    probabilities = model.tables[-1]
    chosen = [
        f"{probabilities.columns[row.index(max(row))]} {max(row):.{decimals}f}"
        for row in probabilities.values
    ]
    return " ".join(chosen), texts


# For each table its rows of texts, and whether each cell is marked.
TABLES_SCRIPT = """() => Object.fromEntries(
  [...document.querySelectorAll("table[data-table]")].map((table) => [table.dataset.table,
    [...table.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => [cell.textContent, cell.classList.contains("changed")]))]))"""


def check_page(
    widget: Locator, pencil: dict = PENCIL, sentence: list[str] = SENTENCE, is_exact: bool = False
) -> int:
    """Compare the status, all tables and their marks with by_hand.py; count the marked results."""
    translation, expected = expected_texts(pencil, sentence, is_exact)
    _, printed = expected_texts(PENCIL, SENTENCE, is_exact)
    shown = widget.page.evaluate(TABLES_SCRIPT)
    assert set(shown) == set(expected)
    count = 0
    for name, rows in shown.items():
        assert [[text for text, _ in row] for row in rows] == expected[name], name
        for i, row in enumerate(rows):
            before = printed[name][i] if i < len(printed[name]) else []
            for j, (text, is_marked) in enumerate(row):
                assert is_marked == (before[j : j + 1] != [text]), (name, i, j)
                count += is_marked and j > 0
    scores = QUERY.replace("query", "scores.0")
    heads = widget.page.locator(f'table[data-table="{scores}"] thead th')
    expect(heads).to_have_text(sentence)
    status = widget.get_by_role("status")
    expect(status).to_contain_text(f"{' '.join(sentence)} → {translation}")
    expect(status).to_contain_text(str(count) if count else "")
    return count


def find_weight(pencil: dict, path: str) -> tuple[list[int], int]:
    """The row and the column of a number, such as "output.weight[3][1]"."""
    name, *rows, column = re.findall(r"[^][]+", path)
    row = pencil["weights"][name]
    return (row[int(rows[0])] if rows else row), int(column)


def printed_weight(path: str) -> int:
    row, column = find_weight(PENCIL, path)
    return row[column]


def with_weights(changes: dict[str, int]) -> dict:
    """The model with other values of these weights."""
    changed = copy.deepcopy(PENCIL)
    for path, value in changes.items():
        row, column = find_weight(changed, path)
        row[column] = value
    return changed


def weight_input(widget: Locator, path: str) -> Locator:
    return widget.page.get_by_label(path, exact=True)


def open_panel(widget: Locator) -> Locator:
    widget.locator("summary").click()
    return widget.locator("details > div")


def choose_sentence(widget: Locator, sentence: list[str]) -> None:
    """Select the words; those behind the sentence are left out."""
    for i, select in enumerate(widget.locator("select").all()):
        select.select_option(sentence[i] if i < len(sentence) else "")


def test_the_page_is_printed_as_computed_and_does_not_move_when_the_widget_starts(
    checked_page, open_widget
):
    checked_page.add_init_script(RECORD_SHIFTS_SCRIPT)
    assert check_page(open_widget(WIDGET)) == 0
    assert checked_page.evaluate("window.shift") <= 0.01
    inputs = checked_page.locator("td input")
    weights = dict(inputs.evaluate_all("all => all.map((each) => [each.ariaLabel, each.value])"))
    assert weights == {path: str(printed_weight(path)) for path in weights}
    # Without scripts the page shows the same numbers.
    static = checked_page.evaluate(
        """async () => {
          const text = await (await fetch("")).text();
          const page = new DOMParser().parseFromString(text, "text/html");
          return [...page.querySelectorAll("[data-weights] td")]
            .map((each) => each.textContent.replace("−", "-"));
        }"""
    )
    assert static == [*weights.values()]


@wide_only
@english_only
def test_another_sentence_changes_every_table_and_its_size(widget):
    open_panel(widget)
    for sentence in (PENCIL["sentences"][0][0].split(), [*reversed(KNOWN_WORDS[:6])]):
        choose_sentence(widget, sentence)
        check_page(widget, PENCIL, sentence)
    choose_sentence(widget, [])
    check_page(widget)  # without words, the chapter's


@wide_only
@english_only
@pytest.mark.parametrize("is_exact", [False, True], ids=["rounded", "exact"])
def test_changed_weights_are_followed_as_by_hand(widget, is_exact):
    panel = open_panel(widget)
    panel.get_by_role("checkbox").set_checked(is_exact)
    assert check_page(widget, is_exact=is_exact) == 0
    labels = widget.page.locator("td input").evaluate_all("all => all.map((x) => x.ariaLabel)")
    rng = random.Random(1)
    changes = {path: rng.randint(-5, 5) for path in rng.sample(labels, 12)}
    changes |= {f"{QUERY}.weight[1][{i}]": 99 for i in range(4)}  # no power overflows
    for path, value in changes.items():
        weight_input(widget, path).fill(str(value))
    assert check_page(widget, with_weights(changes), SENTENCE, is_exact) > 0
    panel.get_by_role("button").click()
    assert check_page(widget) == 0
    expect(panel.get_by_role("checkbox")).not_to_be_checked()
    expect(widget.page.locator(".changed")).to_have_count(0)


def test_a_changed_weight_is_marked_and_can_be_restored(widget):
    word = f"src_embedding.embedding.weight[{PENCIL['source'].index('we')}][0]"
    for path in (word, f"{QUERY}.weight[0][0]", "decoder.layers.0.norm2.bias[2]"):
        field, value = weight_input(widget, path), printed_weight(path)
        field.press("ArrowUp")
        expect(field).to_have_value(str(value + 1))
        assert check_page(widget, with_weights({path: value + 1})) > 0
        expect(widget.page.locator("td.changed:has(input)")).to_have_count(1)
        field.press("Escape")
        expect(field).to_have_value(str(value))
        assert check_page(widget) == 0


def test_arithmetic_with_other_numbers_is_crossed_out(widget):
    names = [*expected_texts(PENCIL, SENTENCE, False)[1]]
    outdated = widget.page.locator("[data-worked][aria-hidden=true]")
    expect(widget.page.locator("[data-worked]")).to_have_count(len(names))
    expect(outdated).to_have_count(0)
    weight_input(widget, f"{QUERY}.weight[0][0]").fill("5")
    expect(outdated).to_have_count(len(names) - names.index(QUERY))
    expect(outdated.first).to_have_css("text-decoration-line", "line-through")
    weight_input(widget, f"{QUERY}.weight[0][0]").press("Escape")
    unused = next(i for i, word in enumerate(PENCIL["source"]) if word not in SENTENCE)
    weight_input(widget, f"src_embedding.embedding.weight[{unused}][0]").fill("5")
    expect(outdated).to_have_count(0)  # the sentence doesn't have this word
    open_panel(widget).get_by_role("checkbox").check()
    expect(outdated).to_have_count(len(names))


@wide_only
@english_only
def test_keys_move_between_weights_and_close_the_panel(checked_page, widget):
    press = checked_page.keyboard.press
    places = [f"{QUERY}.weight[0][3]", f"{QUERY}.bias[0]"]
    last, bias = (weight_input(widget, path) for path in places)
    last.press("ArrowRight")
    expect(bias).to_be_focused()
    press("ArrowLeft")
    expect(last).to_be_focused()
    press("Shift+Tab")  # leaves the table
    table = "document.activeElement.closest('table')?.dataset.weights"
    assert checked_page.evaluate(table) != QUERY
    press("Tab")
    expect(last).to_be_focused()
    summary, select = widget.locator("summary"), widget.locator("select").first
    summary.press("Enter")
    press("Tab")
    expect(select).to_be_focused()
    press("Escape")
    expect(summary).to_be_focused()
    expect(select).to_be_hidden()


@wide_only
@english_only
def test_invalid_numbers_change_nothing(widget):
    path = f"{QUERY}.weight[0][0]"
    field = weight_input(widget, path)
    for typed in ("", "1.5", "100", "-1e3"):
        field.fill(typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert check_page(widget) == 0
        field.blur()
        expect(field).to_have_value(str(printed_weight(path)))
        expect(field).to_have_attribute("aria-invalid", "false")


def test_the_bar_stays_in_view_covers_no_weight_and_is_accessible(checked_page, widget, width):
    checked_page.locator("table[data-table=probabilities]").scroll_into_view_if_needed()
    expect(widget).to_be_in_viewport()
    assert widget.bounding_box()["height"] <= (90 if width == 390 else 60)
    for field in checked_page.locator("td input").all()[::97]:
        assert field.evaluate(COVERING_ELEMENT_SCRIPT) == ""
    weight_input(widget, f"{QUERY}.weight[0][0]").fill("5")
    open_panel(widget)
    tables = f'[data-weights="{QUERY}"], [data-table="{QUERY}"]'
    check_accessibility(checked_page, f"[data-widget={WIDGET}], {tables}")


@pytest.mark.parametrize("width", [390])
def test_controls_are_large_enough_for_a_finger(widget, browser, width):
    controls = open_panel(widget).locator("select, button, label")
    assert min(each.bounding_box()["height"] for each in controls.all()) >= 44
    with browser.new_context(
        has_touch=True, is_mobile=True, viewport={"width": width, "height": 844}
    ) as context:
        phone = context.new_page()
        phone.goto(widget.page.url)
        sizes = phone.locator("[data-weights] td").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
        )
    assert min(map(min, sizes)) >= 43  # without half a border on each side
