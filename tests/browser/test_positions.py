"""The widget of two positions shows the values of the model's positional encoding table."""

import re

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import parse_number
from transformer import sinusoidal_positional_encoding

WIDGET, LAST_POSITION = "positions", 100


def shown_product(widget: Locator) -> float:
    return parse_number(widget.locator(".product").inner_text())


def hand_positions(widget: Locator, name: str) -> torch.Tensor:
    """Sine and cosine of each drawn clock hand."""
    positions = widget.locator(f".face .{name} line").evaluate_all(
        "lines => lines.map(line => [line.x2.baseVal.value, -line.y2.baseVal.value])"
    )
    return torch.tensor(positions, dtype=torch.float64)


def test_the_number_is_the_inner_product_and_the_hands_are_the_encodings(widget):
    sliders, selects = (widget.locator(each) for each in ("input", "select"))
    for p, q, d_model, base in ((2, 9, 8, 10000), (9, 2, 16, 100), (0, 3, 512, 10000)):
        sliders.nth(0).fill(str(p))
        sliders.nth(1).fill(str(q))
        selects.nth(0).select_option(str(d_model))
        selects.nth(1).select_option(str(base))
        rows = sinusoidal_positional_encoding(LAST_POSITION + 1, d_model, base).double()
        assert shown_product(widget) == pytest.approx((rows[p] @ rows[q]).item(), abs=5.1e-5)
        for name, row in (("from", rows[p]), ("to", rows[q])):
            drawn = hand_positions(widget, name)
            assert len(drawn) == min(d_model // 2, 8)
            ends = torch.stack([row[:2], row[-2:]])
            torch.testing.assert_close(drawn[[0, -1]], ends, rtol=0, atol=1e-6)
        product = widget.locator(".product").inner_text()
        expect(widget.locator(".explanation")).to_contain_text(product)


def test_moving_both_positions_by_the_keyboard_keeps_the_inner_product(checked_page, widget):
    product, start = shown_product(widget), hand_positions(widget, "from")
    cosines = widget.locator(".cosine").all_inner_texts()
    first, second = widget.locator("input").all()
    second.focus()
    for key in ("Tab", "Enter", "Tab", *["Space"] * 6):  # one back, six forward
        checked_page.keyboard.press(key)
    assert shown_product(widget) == product
    assert widget.locator(".cosine").all_inner_texts() == cosines
    assert ((hand_positions(widget, "from") - start).abs().amax(dim=1) > 1e-3).all()
    expect(first).to_have_value("8")
    expect(second).to_have_value("12")
    expect(widget.locator(".explanation")).to_contain_text(re.compile("still 4|还是 4"))
    second.press("End")
    widget.locator("button").nth(1).click()  # there is none after the last
    expect(second).to_have_value(str(LAST_POSITION))
