"""The widget of the chapter on attention: change the numbers, see all that follows."""

import itertools
import math
import random
import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

import transformer
from browser_pages import BASE, LANGUAGE_AT, settle
from built_pages import assert_no_errors

WIDGET = "[data-widget=attention]"
OPTIONS = ("root", "causal", "padding")
SETTINGS = list(itertools.product((True, False), repeat=3))  # in this order
STEPS = {"scores": 3, "scaled": 3, "mask": 3, "powers": 3, "weights": 3, "output": 2}

english = pytest.mark.parametrize("language", ["en"])
wide = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


@pytest.fixture
def widget(reader: Page, home: str) -> Locator:
    """The live widget, as the chapter begins with it."""
    reader.goto(f"{home}attention/", wait_until="domcontentloaded")
    widget = reader.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    expect(widget.locator("table")).to_have_count(9)
    return widget


def cell(widget: Locator, name: str, row: int, column: int) -> Locator:
    return widget.locator(f'[data-at="{name} {row} {column}"]')


def field(widget: Locator, name: str, row: int, column: int) -> Locator:
    return cell(widget, name, row, column).locator("input")


def shown(widget: Locator, name: str, row: int, column: int) -> str:
    return cell(widget, name, row, column).locator("span").inner_text()


def choose(widget: Locator, *place) -> None:
    """As the keyboard does."""
    field(widget, *place).focus()
    field(widget, *place).press("Space")


def messages(widget: Locator) -> str:
    return widget.locator(".by-hand__explanation p").inner_text()


def number(text: str) -> float:
    """The number that a cell shows: −0.707, or 2·10⁻⁷."""
    plain = text.replace("−", "-").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    return float(plain.replace("·10", "e"))


def expected(entries: dict, root: bool, causal: bool, padding: bool) -> dict:
    """Weights and output of scaled_dot_product_attention of transformer.py."""
    query, key, value = (
        torch.tensor(entries[name], dtype=torch.float64) for name in ("query", "key", "value")
    )
    if not root:
        query = query * math.sqrt(query.size(-1))  # by which the function then divides
    mask = torch.ones(1, 3, dtype=torch.bool)
    if causal:
        mask = mask & transformer.causal_mask(3)[0, 0]
    if padding:
        mask = mask & transformer.padding_mask(torch.tensor([[5, 6, 0]]))[0, 0]
    output, weights = transformer.scaled_dot_product_attention(query, key, value, mask)
    return {"output": output, "weights": weights}


def random_entries(rng: random.Random, digits: int) -> dict:
    return {
        name: [[round(rng.uniform(-4, 4), digits) for _ in range(2)] for _ in range(3)]
        for name in ("query", "key", "value")
    }


def set_options(widget: Locator, setting: tuple[bool, ...]) -> None:
    for name, required in zip(OPTIONS, setting, strict=True):
        widget.locator(f"[name={name}]").set_checked(required)


# Every text of the picture, and every number and word of the live tables, in their order.
PICTURE = """async (selector) => {
  const page = new DOMParser().parseFromString(await (await fetch("")).text(), "text/html");
  return [...page.querySelectorAll(`${selector} svg text`)].map((each) => each.textContent);
}"""
LIVE = """(selector) => [...document.querySelectorAll(
  `${selector} :is(caption > *, th, td > input[type=number], td > span)`)]
  .map((each) => (each.value ?? each.textContent).replace("-", "−"))"""


@wide
def test_the_live_tables_begin_with_what_the_picture_shows(reader, widget):
    picture = reader.evaluate(PICTURE, WIDGET)
    assert len(picture) == 137
    assert reader.evaluate(LIVE, WIDGET) == picture


ATTEND = """async ([module, given]) => {
  const { attend } = await import(module);
  return given.map(([entries, options]) => attend(entries, options));
}"""


def test_it_computes_what_the_model_computes(page: Page):
    rng = random.Random(5)
    given = [(random_entries(rng, digits=15), setting) for setting in SETTINGS for _ in range(25)]
    options = [(entries, dict(zip(OPTIONS, setting, strict=True))) for entries, setting in given]
    page.goto(f"{BASE}attention/", wait_until="domcontentloaded")
    module = f"{BASE}assets/widgets/attention-numbers.js"
    computed = page.evaluate(ATTEND, [module, options])
    for (entries, setting), steps in zip(given, computed, strict=True):
        for name, theirs in expected(entries, *setting).items():
            ours = torch.tensor(steps[name], dtype=torch.float64)
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


@english
def test_what_is_typed_and_set_is_what_is_computed_and_shown(widget):
    rng = random.Random(7)
    setting = rng.choice(SETTINGS)
    entries = random_entries(rng, digits=1)
    for name, rows in entries.items():
        for i, j in itertools.product(range(3), range(2)):
            field(widget, name, i, j).fill(str(rows[i][j]))
    for setting in SETTINGS:
        set_options(widget, setting)
        for name, theirs in expected(entries, *setting).items():
            found = cell(widget, name, 0, 0).locator("xpath=ancestor::tbody").locator("td span")
            for text, required in zip(
                found.all_inner_texts(), theirs.flatten().tolist(), strict=True
            ):
                assert number(text) == pytest.approx(required, abs=5.1e-4)
                assert (text == "0") == (required == 0), "exactly 0 is distinguished from nearly 0"


ARITHMETIC = {"·": "*", "√2": "math.sqrt(2)", "e^": "math.e**", "−": "-"}


@wide
@pytest.mark.parametrize("setting", [(True, False, False), (False, True, True)], ids=str)
def test_the_arithmetic_of_every_cell_comes_out(widget, setting):
    set_options(widget, setting)
    errors = []
    for name, columns in STEPS.items():
        for i, j in itertools.product(range(3), range(columns)):
            choose(widget, name, i, j)
            line, result = re.split("[:：] ?", messages(widget))[1], shown(widget, name, i, j)
            if "=" in line:
                for sign, python in ARITHMETIC.items():
                    line = line.replace(sign, python)
                left, right = line.split("=")  # our own digits and signs
                right_is_left = eval(left, {"math": math}) == pytest.approx(float(right), abs=0.02)
            else:  # a mask, what it hides, or a score that isn't divided
                right_is_left = result in line or not setting[0]
            if not right_is_left:
                errors.append(f"{name} {i} {j} shows {result}: {messages(widget)}")
    assert_no_errors(errors)


@wide
@english
def test_masks_make_zeros_and_rows_still_sum_to_one(widget):
    set_options(widget, (True, True, True))
    for i in range(3):
        row = [shown(widget, "weights", i, j) for j in range(3)]
        assert [text == "0" for text in row] == [j > i or j == 2 for j in range(3)]
        assert sum(map(number, row)) == pytest.approx(1, abs=0.002)
    expect(widget.locator("th", has_text="<pad>")).to_have_count(9 + 5)


@wide
@english
def test_what_padding_holds_changes_scores_and_no_output(widget):
    set_options(widget, (True, False, True))
    outputs = widget.locator(".by-hand__output span")
    before, score = outputs.all_inner_texts(), shown(widget, "scores", 1, 2)
    for name in ("key", "value"):
        field(widget, name, 2, 0).fill("-7.5")
    assert shown(widget, "scores", 1, 2) != score
    assert outputs.all_inner_texts() == before


@wide
@english
def test_a_longer_query_keeps_the_order_and_sharpens_the_weights(widget):
    before = [number(shown(widget, "weights", 1, j)) for j in range(3)]
    field(widget, "query", 1, 0).fill("4")
    after = [number(shown(widget, "weights", 1, j)) for j in range(3)]
    assert sorted(range(3), key=before.__getitem__) == sorted(range(3), key=after.__getitem__)
    assert after[0] > 0.9 > before[0]


@english
def test_the_keyboard_does_everything(reader, widget):
    field(widget, "query", 1, 0).focus()
    reader.keyboard.press("ArrowUp")
    assert shown(widget, "scores", 1, 0) == "5"
    widget.locator("[name=causal]").focus()
    reader.keyboard.press("Space")
    assert shown(widget, "weights", 0, 1) == "0"
    choose(widget, "weights", 0, 0)
    for key, place in (
        ("ArrowDown", (1, 0)),
        ("ArrowRight", (1, 1)),
        ("ArrowUp", (0, 1)),
        ("ArrowUp", (0, 1)),  # there is nothing above
    ):
        reader.keyboard.press(key)
        expect(field(widget, "weights", *place)).to_be_checked()
        expect(field(widget, "weights", *place)).to_be_focused()
    expect(widget.locator("input[type=radio]:checked")).to_have_count(1)
    widget.locator("input[type=range]").focus()
    reader.keyboard.press("End")
    expect(field(widget, "query", 1, 0)).to_have_value("10")
    widget.get_by_role("button").focus()
    reader.keyboard.press("Enter")
    assert shown(widget, "weights", 1, 0) == "0.768"
    expect(widget.locator("[name=causal]")).not_to_be_checked()


@wide
def test_the_slider_moves_the_entry_touched_last(widget):
    field(widget, "value", 2, 1).focus()
    slider = widget.locator("input[type=range]")
    slider.fill("-3")
    expect(field(widget, "value", 2, 1)).to_have_value("-3")
    assert "?" in slider.locator("xpath=..").inner_text()


@wide
@english
def test_what_is_no_number_in_reach_changes_nothing(widget):
    entry = field(widget, "query", 1, 0)
    for typed in ("", "-", "99", "-1e3"):
        entry.fill("3")
        entry.fill("")
        entry.press_sequentially(typed)
        expect(entry).to_have_attribute("aria-invalid", "true")
        entry.blur()
        assert float(entry.input_value()) == (9 if typed == "99" else -1 if "e" in typed else 3)
        expect(entry).not_to_have_attribute("aria-invalid", "true")


@wide
def test_a_screen_reader_hears_cells_and_what_was_chosen(widget, language):
    name = {"en": "8.613, Output of work, number 1", "zh": "8.613, work 的输出，第 1 个数"}
    expect(field(widget, "output", 1, 0)).to_have_accessible_name(name[language])
    choose(widget, "output", 1, 0)
    expect(widget.get_by_role("status")).to_have_text(messages(widget))
    assert messages(widget).endswith("0.768 · 10 + 0.045 · 0 + 0.187 · 5 = 8.613")


# What a focused element is covered by, if by something: it scrolls into view first.
COVERED = """(input) => {
  input.focus();
  const { left, top, width, height } = input.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there === input || input.contains(there) ? "" : there?.outerHTML.slice(0, 99) ?? "out";
}"""


def test_all_that_is_touched_is_large_enough_and_not_covered(widget):
    sizes = widget.locator("td input, button, label").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
    )
    assert len(sizes) == 18 + 5 * 9 + 6 + 1 + 4
    assert min(map(min, sizes)) >= 24
    for entry in widget.locator("input").all()[::4]:
        assert entry.evaluate(COVERED) == ""


SHIFTS = """() => new Promise((tell) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => (sum += each.value)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => tell(sum), 200);
})"""


def test_nothing_moves_when_it_comes_to_life(reader, home):
    reader.goto(f"{home}masks/")  # brings the fonts, whose late arrival could add a line above
    settle(reader)
    reader.goto(f"{home}attention/#formula")  # just below it
    widget = reader.locator(WIDGET)
    expect(widget.locator("table")).to_have_count(9)
    assert reader.evaluate(SHIFTS) <= 0.01
    reserved = widget.evaluate("each => parseFloat(getComputedStyle(each).minHeight)")
    assert abs(widget.bounding_box()["height"] - reserved) < 4


def test_axe_finds_nothing_in_either_scheme(reader, widget):
    set_options(widget, (True, False, True))
    choose(widget, "output", 1, 0)
    for scheme in ("light", "dark"):
        reader.emulate_media(color_scheme=scheme)
        found = Axe().run(reader, context=WIDGET).response["violations"]
        assert_no_errors(f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found)
