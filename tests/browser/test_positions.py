"""The widget of two positions shows the values of the model's positional encoding table."""

import itertools
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import BASE_URL
from transformer import sinusoidal_positional_encoding

MODEL_SIZES, BASES, LAST_POSITION = (4, 8, 16, 64, 512), (10000, 1000, 100, 10), 100
LIGHT_PAGE_URL = f"{BASE_URL}404.html"  # a light page to call the module on


def encoding_table(d_model: int, base: float) -> torch.Tensor:
    return sinusoidal_positional_encoding(LAST_POSITION + 1, d_model, base).double()


@pytest.fixture
def positions_widget(open_widget) -> Locator:
    return open_widget("positions")


def parse_number(text: str) -> float:
    return float(text.replace("−", "-"))


def shown_product(positions_widget: Locator) -> float:
    return parse_number(positions_widget.locator(".product").inner_text())


def hand_positions(positions_widget: Locator, name: str) -> torch.Tensor:
    """Sine and cosine of each drawn clock hand."""
    positions = positions_widget.locator(f".face .{name} line").evaluate_all(
        "lines => lines.map(line => [line.x2.baseVal.value, -line.y2.baseVal.value])"
    )
    return torch.tensor(positions, dtype=torch.float64)


@pytest.mark.parametrize("width", [1280])
def test_encodings_and_their_rotations_equal_the_rows_of_the_models_table(checked_page):
    """Also those that rotations by q − p make of the encoding of p."""
    checked_page.goto(LIGHT_PAGE_URL)
    pairs = [(0, 5), (1, 99), (40, 39), (LAST_POSITION, 0), (17, 17)]
    found = checked_page.evaluate(
        """async ([sizes, bases, pairs]) => {
          const { encoding, frequencies, shifted } = await import("/assets/widgets/positions.js");
          return sizes.map((d) => bases.map((base) => pairs.map(([p, q]) => {
            const thetas = frequencies(d, base);
            return [encoding(q, thetas), shifted(encoding(p, thetas), q - p, thetas)];
          })));
        }""",
        [MODEL_SIZES, BASES, pairs],
    )
    for (d_model, rows), (i, base) in itertools.product(
        zip(MODEL_SIZES, found, strict=True), enumerate(BASES)
    ):
        expected = encoding_table(d_model, base)[[q for _, q in pairs]]
        both = torch.tensor(rows[i], dtype=torch.float64).unbind(1)
        for each in both:
            torch.testing.assert_close(each, expected, rtol=0, atol=1e-6)


def test_the_number_is_the_inner_product_and_the_hands_are_the_encodings(positions_widget):
    sliders, selects = (positions_widget.locator(each) for each in ("input", "select"))
    for p, q, d_model, base in ((2, 9, 8, 10000), (9, 2, 16, 100), (0, 3, 512, 10000)):
        sliders.nth(0).fill(str(p))
        sliders.nth(1).fill(str(q))
        selects.nth(0).select_option(str(d_model))
        selects.nth(1).select_option(str(base))
        rows = encoding_table(d_model, base)
        expected = (rows[p] @ rows[q]).item()
        assert shown_product(positions_widget) == pytest.approx(expected, abs=5.1e-5)
        for name, row in (("from", rows[p]), ("to", rows[q])):
            drawn = hand_positions(positions_widget, name)
            assert len(drawn) == min(d_model // 2, 8)
            ends = torch.stack([row[:2], row[-2:]])
            torch.testing.assert_close(drawn[[0, -1]], ends, rtol=0, atol=1e-6)
        expect(positions_widget.locator(".explanation")).to_contain_text(
            positions_widget.locator(".product").inner_text()
        )


def test_moving_both_positions_keeps_the_inner_product(positions_widget):
    before, cosines = (
        shown_product(positions_widget),
        positions_widget.locator(".cosine").all_inner_texts(),
    )
    start = hand_positions(positions_widget, "from")
    for _ in range(5):
        positions_widget.locator("button").nth(1).click()
    assert shown_product(positions_widget) == before
    assert positions_widget.locator(".cosine").all_inner_texts() == cosines
    assert ((hand_positions(positions_widget, "from") - start).abs().amax(dim=1) > 1e-3).all()
    sliders = positions_widget.locator("input")
    assert [slider.input_value() for slider in sliders.all()] == ["8", "12"]
    expect(positions_widget.locator(".explanation")).to_contain_text(re.compile("still 4|还是 4"))
    sliders.nth(1).press("End")
    positions_widget.locator("button").nth(1).click()  # there is none after the last
    assert sliders.nth(1).input_value() == str(LAST_POSITION)


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_every_control_works_with_the_keyboard(checked_page, positions_widget):
    positions_widget.locator("input").first.focus()
    checked_page.keyboard.press("ArrowRight")  # p = 4
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("PageUp")  # q = 17
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("Enter")  # both one position back
    checked_page.keyboard.press("Tab")
    for key in ("Space", "Space"):  # both one position forward
        checked_page.keyboard.press(key)
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("ArrowDown")  # d_model 64
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("ArrowDown")  # base 1000
    p, q = (int(slider.input_value()) for slider in positions_widget.locator("input").all())
    assert p == 5 and q > 8
    rows = encoding_table(64, 1000)
    assert shown_product(positions_widget) == pytest.approx((rows[p] @ rows[q]).item(), abs=5.1e-5)
