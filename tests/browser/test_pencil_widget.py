"""The pencil model on the page By hand: change the sentence or a weight, and the tables follow."""

import copy
import json
import math
import random
import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from bookbuild.generated.pencil_steps import SENTENCE
from bookbuild.pages import paths
from browser_pages import BASE_URL, RECORD_SHIFTS_SCRIPT, axe_errors
from built_pages import assert_no_errors
from by_hand import ByHand

WIDGET = "[data-widget=pencil]"
PENCIL = json.loads((paths.SNIPPETS / "pencil.json").read_text(encoding="utf-8"))
QUERY = "encoder.layers.0.self_attention.query"
KNOWN_WORDS = [word for word in PENCIL["source"] if not word.startswith("<")]

english_only = pytest.mark.parametrize("language", ["en"])
wide_only = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def bar(checked_page: Page, home_url: str) -> Locator:
    """The bar of the live widget, which is the whole page."""
    checked_page.add_init_script(RECORD_SHIFTS_SCRIPT)
    checked_page.goto(f"{home_url}by-hand/")
    bar = checked_page.locator(WIDGET)
    bar.scroll_into_view_if_needed()
    expect(bar.locator(".pencil-bar")).to_be_visible()
    return bar


def compute_tables(
    pencil: dict, sentence: list[str], decimals: int | None
) -> tuple[list[str], dict[str, tuple]]:
    """The translation, and rows, columns and values of each table, from by_hand.py."""
    model = ByHand(pencil, decimals)
    words = model.translate(sentence)
    return words, {table.name: tuple(table[1:]) for table in model.tables}


def format_number(value: float, decimals: int) -> str:
    digits = f"{abs(value):.{decimals}f}".removesuffix(f".{'0' * decimals}")
    digits = "∞" if value == -math.inf else digits
    return f"−{digits}" if value < 0 and digits != "0" else digits


def expected_texts(pencil: dict, sentence: list[str], is_exact: bool = False) -> dict[str, list]:
    """The texts of each table: a row for each word, which begins with the word."""
    _, tables = compute_tables(pencil, sentence, None if is_exact else 2)
    decimals = 4 if is_exact else 2
    return {
        name: [
            [word, *(format_number(value, decimals) for value in row)]
            for word, row in zip(rows, values, strict=True)
        ]
        for name, (rows, _, values) in tables.items()
    }


# For each table its rows of texts, and whether each cell is marked.
TABLES_SCRIPT = """() => Object.fromEntries(
  [...document.querySelectorAll("table[data-table]")].map((table) => [table.dataset.table,
    [...table.tBodies[0].rows].map((row) =>
      [...row.cells].map((cell) => [cell.textContent, cell.classList.contains("changed")]))]))"""


def check_tables(bar: Locator, pencil: dict, sentence: list[str], is_exact: bool = False) -> int:
    """Compare all tables, marks and heads with by_hand.py; returns the number of marked results."""
    expected = expected_texts(pencil, sentence, is_exact)
    printed = expected_texts(PENCIL, SENTENCE, is_exact)
    shown = bar.page.evaluate(TABLES_SCRIPT)
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
    heads = bar.page.locator(f'table[data-table="{scores}"] thead th')
    expect(heads).to_have_text(sentence)
    return count


def with_weight(path: str, value: int) -> dict:
    """The model with another value of a weight, such as "output.weight[3][1]"."""
    changed = copy.deepcopy(PENCIL)
    row, column = find_weight(changed, path)
    row[column] = value
    return changed


def find_weight(pencil: dict, path: str) -> tuple[list[int], int]:
    """The row and the column of a number."""
    name, *indices = re.findall(r"[^][]+", path)
    row = pencil["weights"][name]
    *rows, column = map(int, indices)
    return (row[rows[0]] if rows else row), column


def weight_input(bar: Locator, path: str) -> Locator:
    return bar.page.get_by_label(path, exact=True)


def printed_weight(path: str) -> int:
    row, column = find_weight(PENCIL, path)
    return row[column]


def open_panel(bar: Locator) -> Locator:
    bar.locator("summary").click()
    return bar.locator("details > div")


def choose_sentence(bar: Locator, sentence: list[str]) -> None:
    """Select the words; those behind the sentence are left out."""
    selects = bar.locator("select")
    for i in range(selects.count()):  # first the last ones, since the words move up
        selects.nth(i).select_option(sentence[i] if i < len(sentence) else "")


def check_status(bar: Locator, pencil: dict, sentence: list[str], is_exact: bool = False) -> None:
    """The status is the sentence and its translation with the probability of each word."""
    decimals = 4 if is_exact else 2
    words, tables = compute_tables(pencil, sentence, None if is_exact else 2)
    _, columns, values = tables["probabilities"]
    chosen = [columns[row.index(max(row))] for row in values]
    assert [word for word in chosen if word != "<eos>"] == words
    pairs = zip(chosen, values, strict=True)
    parts = [f"{word}\N{NO-BREAK SPACE}{max(row):.{decimals}f}" for word, row in pairs]
    expect(bar.get_by_role("status")).to_contain_text(
        f"{' '.join(sentence)} → {' '.join(parts)}".replace("\N{NO-BREAK SPACE}", " ")
    )


# The model

TRANSLATE_SCRIPT = """async ([pencil, tasks]) => {
  const { translate } = await import("/assets/widgets/pencil-model.js");
  return tasks.map(([changes, sentence, isRounded]) => {
    const changed = structuredClone(pencil);
    for (const [name, row, column, value] of changes) {
      (row === null ? changed.weights[name] : changed.weights[name][row])[column] = value;
    }
    const { words, tables } = translate(changed, sentence, isRounded);
    const results = [...tables].map(([name, { rows, columns, values }]) =>
      [name, rows, columns, values.map((row) => row.map((x) => (x === -Infinity ? null : x)))]);
    return [words, results];
  });
}"""


def random_changes(rng: random.Random, count: int) -> list[tuple[str, int | None, int, int]]:
    """New values of some weights: name, row, column, value."""
    changes = []
    for name in rng.choices([*PENCIL["weights"]], k=count):
        matrix = PENCIL["weights"][name]
        is_matrix = isinstance(matrix[0], list)
        row = rng.randrange(len(matrix)) if is_matrix else None
        changes.append((name, row, rng.randrange(4), rng.randint(-5, 5)))
    return changes


@pytest.mark.parametrize("decimals", [2, None], ids=["rounded", "exact"])
def test_every_table_in_javascript_equals_that_of_by_hand(page: Page, decimals):
    rng = random.Random(1)
    sentences = [source.split() for source, _ in PENCIL["sentences"]]
    tasks = [([], sentence) for sentence in sentences]
    for sentence in sentences:
        tasks += [(random_changes(rng, count), sentence) for count in (1, 3, 12)]
    tasks += [([], rng.choices(KNOWN_WORDS, k=count)) for count in range(1, 7)]
    page.goto(f"{BASE_URL}404.html")  # a light page
    passed = [(*task, decimals is not None) for task in tasks]
    results = page.evaluate(TRANSLATE_SCRIPT, [PENCIL, passed])
    for (changes, sentence), (words, tables) in zip(tasks, results, strict=True):
        pencil = copy.deepcopy(PENCIL)
        for name, row, column, value in changes:
            weights = pencil["weights"][name]
            (weights if row is None else weights[row])[column] = value
        expected_words, expected = compute_tables(pencil, sentence, decimals)
        assert [word for word in words if word != "<eos>"] == expected_words
        assert [name for name, *_ in tables] == list(expected)
        for name, rows, columns, values in tables:
            expected_rows, expected_columns, expected_values = expected[name]
            assert (rows, columns) == (expected_rows, expected_columns)
            for row, expected_row in zip(values, expected_values, strict=True):
                row = [-math.inf if x is None else x for x in row]
                tolerance = {"abs": 1e-9} if decimals is None else {"abs": 0, "rel": 0}
                assert row == pytest.approx(expected_row, **tolerance), name


# The page


def test_the_page_is_printed_as_computed_and_does_not_move_when_the_widget_starts(
    checked_page, bar
):
    assert check_tables(bar, PENCIL, SENTENCE) == 0
    check_status(bar, PENCIL, SENTENCE)
    assert checked_page.evaluate("window.shift") <= 0.01
    inputs = checked_page.locator("td input")
    assert inputs.count() == sum(
        len(each) * (len(each[0]) if isinstance(each[0], list) else 1)
        for each in PENCIL["weights"].values()
    )
    labels = inputs.evaluate_all("all => all.map((each) => [each.ariaLabel, each.value])")
    assert len(dict(labels)) == len(labels)
    for path, value in labels:
        assert int(value) == printed_weight(path), path
    # Without scripts the page shows the same numbers.
    static = checked_page.evaluate(
        """async () => {
          const text = await (await fetch("")).text();
          const page = new DOMParser().parseFromString(text, "text/html");
          return [...page.querySelectorAll("[data-weights] td")]
            .map((each) => each.textContent.replace("−", "-"));
        }"""
    )
    assert static == [value for _, value in labels]


@wide_only
@english_only
def test_another_sentence_changes_every_table_and_its_size(bar):
    open_panel(bar)
    for source, _ in PENCIL["sentences"][::5]:
        choose_sentence(bar, source.split())
        check_tables(bar, PENCIL, source.split())
        check_status(bar, PENCIL, source.split())
    own = [*reversed(KNOWN_WORDS[:6])]
    choose_sentence(bar, own)
    check_tables(bar, PENCIL, own)
    choose_sentence(bar, [])
    check_tables(bar, PENCIL, SENTENCE)  # without words, the chapter's


def test_a_changed_weight_is_followed_and_marked_and_can_be_reset(bar):
    norm = "decoder.layers.0.norm2.bias[2]"
    word = f"src_embedding.embedding.weight[{PENCIL['source'].index('we')}][0]"
    for path in (word, f"{QUERY}.weight[0][0]", norm, "output.weight[7][3]"):
        field, value = weight_input(bar, path), printed_weight(path)
        field.focus()
        for _ in range(3):
            field.press("ArrowUp")
        expect(field).to_have_value(str(value + 3))
        pencil = with_weight(path, value + 3)
        count = check_tables(bar, pencil, SENTENCE)
        check_status(bar, pencil, SENTENCE)
        assert count > 0
        expect(bar.get_by_role("status")).to_contain_text(str(count))
        expect(bar.page.locator("td.changed:has(input)")).to_have_count(1)
        field.press("Escape")
        expect(field).to_have_value(str(value))
        assert check_tables(bar, PENCIL, SENTENCE) == 0
    weight_input(bar, f"{QUERY}.bias[1]").fill("-4")
    panel = open_panel(bar)
    choose_sentence(bar, PENCIL["sentences"][0][0].split())
    panel.get_by_role("checkbox").check()
    panel.get_by_role("button").click()
    assert check_tables(bar, PENCIL, SENTENCE) == 0
    check_status(bar, PENCIL, SENTENCE)
    expect(panel.get_by_role("checkbox")).not_to_be_checked()
    value = str(printed_weight(f"{QUERY}.bias[1]"))
    expect(weight_input(bar, f"{QUERY}.bias[1]")).to_have_value(value)
    expect(bar.page.locator(".changed")).to_have_count(0)


@wide_only
@english_only
def test_exact_numbers_are_not_rounded(bar):
    open_panel(bar).get_by_role("checkbox").check()
    assert check_tables(bar, PENCIL, SENTENCE, is_exact=True) == 0
    check_status(bar, PENCIL, SENTENCE, is_exact=True)
    value = printed_weight(f"{QUERY}.weight[1][1]") + 3
    weight_input(bar, f"{QUERY}.weight[1][1]").fill(str(value))
    pencil = with_weight(f"{QUERY}.weight[1][1]", value)
    assert check_tables(bar, pencil, SENTENCE, is_exact=True) > 0


def test_arithmetic_with_other_numbers_is_crossed_out(bar):
    names = [*expected_texts(PENCIL, SENTENCE)]
    outdated = bar.page.locator("[data-worked][aria-hidden=true]")
    expect(bar.page.locator("[data-worked]")).to_have_count(len(names))
    expect(outdated).to_have_count(0)
    weight_input(bar, f"{QUERY}.weight[0][0]").fill("5")
    expect(outdated).to_have_count(len(names) - names.index(QUERY))
    expect(outdated.first).to_have_css("text-decoration-line", "line-through")
    weight_input(bar, f"{QUERY}.weight[0][0]").press("Escape")
    expect(outdated).to_have_count(0)
    unused = next(i for i, word in enumerate(PENCIL["source"]) if word not in SENTENCE)
    weight_input(bar, f"src_embedding.embedding.weight[{unused}][0]").fill("5")
    expect(outdated).to_have_count(0)  # the sentence doesn't have this word
    open_panel(bar).get_by_role("checkbox").check()
    expect(outdated).to_have_count(len(names))


@wide_only
@english_only
def test_keys_move_between_weights_and_close_the_panel(checked_page, bar):
    press = checked_page.keyboard.press
    places = [weight_input(bar, f"{QUERY}.weight[0][{i}]") for i in range(4)]
    places.append(weight_input(bar, f"{QUERY}.bias[0]"))
    places[0].focus()
    for _, after in pairwise(places):
        press("ArrowRight")
        expect(after).to_be_focused()
    press("ArrowLeft")
    expect(places[3]).to_be_focused()
    press("ArrowDown")
    expect(places[3]).to_have_value(str(printed_weight(f"{QUERY}.weight[0][3]") - 1))
    press("Escape")
    press("Shift+Tab")  # leaves the table
    table = "document.activeElement.closest('table')?.dataset.weights"
    assert checked_page.evaluate(table) != QUERY
    press("Tab")
    expect(places[3]).to_be_focused()
    summary = bar.locator("summary")
    summary.focus()
    press("Enter")
    press("Tab")
    expect(bar.locator("select").first).to_be_focused()
    press("Escape")
    expect(summary).to_be_focused()
    expect(bar.locator("select").first).to_be_hidden()


@wide_only
@english_only
def test_invalid_numbers_change_nothing(bar):
    field = weight_input(bar, f"{QUERY}.weight[0][0]")
    before = printed_weight(f"{QUERY}.weight[0][0]")
    for typed in ("", "1.5", "100", "-1e3"):
        field.fill(typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert check_tables(bar, PENCIL, SENTENCE) == 0
        field.blur()
        expect(field).to_have_value(str(before))
        expect(field).to_have_attribute("aria-invalid", "false")


@wide_only
@english_only
def test_extreme_weights_give_finite_numbers(bar):
    for i in range(4):
        weight_input(bar, f"{QUERY}.weight[1][{i}]").fill("99")
        weight_input(bar, f"output.weight[8][{i}]").fill("-99")
        weight_input(bar, f"encoder.layers.0.norm1.weight[{i}]").fill("0")
        weight_input(bar, f"encoder.layers.0.feed_forward.linear2.bias[{i}]").fill("0")
    shown = bar.page.evaluate(TABLES_SCRIPT)
    texts = [text for rows in shown.values() for row in rows for text, _ in row]
    assert not [text for text in texts if text in ("NaN", "∞")]


def test_the_bar_stays_in_view_and_covers_no_weight(checked_page, bar, width):
    checked_page.locator("table[data-table=probabilities]").scroll_into_view_if_needed()
    expect(bar).to_be_in_viewport()
    box = bar.bounding_box()
    assert box and box["height"] <= (90 if width == 390 else 60)
    for field in checked_page.locator("td input").all()[::97]:
        field.focus()
        covering = field.evaluate(
            """(input) => {
              const { left, top, width, height } = input.getBoundingClientRect();
              const there = document.elementFromPoint(left + width / 2, top + height / 2);
              return there === input ? "" : there?.outerHTML.slice(0, 99) ?? "out";
            }"""
        )
        assert covering == ""


def test_axe_finds_no_violation(checked_page, bar):
    weight_input(bar, f"{QUERY}.weight[0][0]").fill("5")
    open_panel(bar)
    tables = f'[data-weights="{QUERY}"], [data-table="{QUERY}"]'
    for scheme in ("light", "dark"):
        checked_page.emulate_media(color_scheme=scheme)
        for rules in ([], ["target-size"]):
            assert_no_errors(axe_errors(checked_page, f"{WIDGET}, {tables}", rules))


@pytest.mark.parametrize("width", [390])
def test_controls_are_large_enough_for_a_finger(bar, browser, width, language):
    sizes = (
        open_panel(bar)
        .locator("select, button, label")
        .evaluate_all("all => all.map((each) => each.getBoundingClientRect().height)")
    )
    assert min(sizes) >= 44
    context = browser.new_context(has_touch=True, is_mobile=True)
    phone = context.new_page()
    phone.set_viewport_size({"width": width, "height": 844})
    phone.goto(bar.page.url)
    sizes = phone.locator("[data-weights] td").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
    )
    assert min(map(min, sizes)) >= 43  # without half a border on each side
    context.close()
