"""The clocks of two positions show what the model's own table holds."""

import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import BASE, LANGUAGE_AT
from transformer import sinusoidal_positional_encoding

SIZES, BASES, LAST = (4, 8, 16, 64, 512), (10000, 1000, 100, 10), 100
LIGHT = f"{BASE}404.html"  # a light page to call the module on


def table(d_model: int, base: float) -> torch.Tensor:
    return sinusoidal_positional_encoding(LAST + 1, d_model, base).double()


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


@pytest.fixture
def figure(reader, home) -> Locator:
    reader.goto(f"{home}rotations/")
    figure = reader.locator("[data-widget=positions]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".live")).to_be_visible()
    return figure


def move(figure: Locator, which: int, to: int) -> None:
    """Moves a slider as the keyboard does, from its beginning."""
    slider = figure.locator("input").nth(which)
    slider.press("Home")
    for _ in range(to):
        slider.press("ArrowRight")


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def product(figure: Locator) -> float:
    return number(figure.locator(".product").inner_text())


def hands(figure: Locator, name: str) -> torch.Tensor:
    """Sine and cosine of each clock's hand, as it is drawn."""
    places = figure.locator(f".face .{name} line").evaluate_all(
        "lines => lines.map(line => [line.x2.baseVal.value, -line.y2.baseVal.value])"
    )
    return torch.tensor(places, dtype=torch.float64)


@pytest.mark.parametrize("width", [1280])
def test_its_rows_are_those_of_the_models_table(reader):
    reader.goto(LIGHT)
    places = [0, 1, 2, 7, 44, 99, LAST]
    rows = reader.evaluate(
        """async ([sizes, bases, places]) => {
          const { encoding, frequencies } = await import("/assets/widgets/positions.js");
          return sizes.map((d) => bases.map((base) =>
            places.map((place) => encoding(place, frequencies(d, base)))));
        }""",
        [SIZES, BASES, places],
    )
    for d_model, of_size in zip(SIZES, rows, strict=True):
        for base, found in zip(BASES, of_size, strict=True):
            expected = table(d_model, base)[places]
            found = torch.tensor(found, dtype=torch.float64)
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("width", [1280])
def test_its_rotation_leads_from_every_position_to_the_one_k_further(reader):
    reader.goto(LIGHT)
    pairs = [(0, 5), (3, 7), (40, 39), (100, 0), (17, 17)]
    for d_model, base in ((8, 10000), (64, 100), (512, 10000)):
        found = reader.evaluate(
            """async ([d, base, pairs]) => {
              const { encoding, frequencies, shifted } =
                await import("/assets/widgets/positions.js");
              const thetas = frequencies(d, base);
              return pairs.map(([p, q]) => shifted(encoding(p, thetas), q - p, thetas));
            }""",
            [d_model, base, pairs],
        )
        expected = table(d_model, base)[[q for _, q in pairs]]
        found = torch.tensor(found, dtype=torch.float64)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


def test_the_number_shown_is_the_inner_product_and_the_hands_are_the_rows(figure):
    for p, q, d_model, base in ((2, 9, 8, 10000), (9, 2, 16, 100), (0, 3, 512, 10000)):
        move(figure, 0, p)
        move(figure, 1, q)
        figure.locator("select").nth(0).select_option(str(d_model))
        figure.locator("select").nth(1).select_option(str(base))
        rows = table(d_model, base)
        assert product(figure) == pytest.approx((rows[p] @ rows[q]).item(), abs=5.1e-5)
        first, last = slice(0, 2), slice(-2, None)
        for name, row in (("from", rows[p]), ("to", rows[q])):
            drawn = hands(figure, name)
            assert len(drawn) == min(d_model // 2, 8)
            expected = torch.stack([row[first], row[last]])
            torch.testing.assert_close(drawn[[0, -1]], expected, rtol=0, atol=1e-6)
        expect(figure.locator(".explanation")).to_contain_text(
            figure.locator(".product").inner_text()
        )


def test_moving_both_turns_every_hand_and_leaves_the_inner_product(figure):
    before, cosines = product(figure), figure.locator(".cosine").all_inner_texts()
    start = hands(figure, "from")
    for _ in range(5):
        figure.locator("button").nth(1).click()
    assert product(figure) == before
    assert figure.locator(".cosine").all_inner_texts() == cosines
    assert ((hands(figure, "from") - start).abs().amax(dim=1) > 1e-3).all()
    assert [slider.input_value() for slider in figure.locator("input").all()] == ["8", "12"]
    expect(figure.locator(".explanation")).to_contain_text(re.compile("still 4|还是 4"))


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_swapping_the_two_leaves_the_inner_product(figure):
    before = product(figure)
    turn = figure.locator(".face").first.inner_text()
    move(figure, 0, 7)
    move(figure, 1, 3)
    assert product(figure) == before
    assert figure.locator(".face").first.inner_text() == turn.replace("= 4", "= −4")


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_there_is_no_position_before_the_first_or_after_the_last(figure):
    move(figure, 0, 0)
    figure.locator("button").nth(0).click()
    expect(figure.locator(".explanation")).to_contain_text(str(LAST))
    assert figure.locator("input").nth(1).input_value() == "7"
    figure.locator("input").nth(1).press("End")
    figure.locator("button").nth(1).click()
    assert figure.locator("input").nth(1).input_value() == str(LAST)


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_the_keyboard_alone_does_everything(reader, figure):
    figure.locator("input").first.focus()
    reader.keyboard.press("ArrowRight")  # p = 4
    reader.keyboard.press("Tab")
    reader.keyboard.press("PageUp")  # q = 17
    reader.keyboard.press("Tab")
    reader.keyboard.press("Enter")  # both back
    reader.keyboard.press("Tab")
    for key in ("Space", "Space"):  # both on
        reader.keyboard.press(key)
    reader.keyboard.press("Tab")
    reader.keyboard.press("ArrowDown")  # d_model 64
    reader.keyboard.press("Tab")
    reader.keyboard.press("ArrowDown")  # base 1000
    p, q = (int(slider.input_value()) for slider in figure.locator("input").all())
    assert p == 5 and q > 8
    rows = table(64, 1000)
    assert product(figure) == pytest.approx((rows[p] @ rows[q]).item(), abs=5.1e-5)
