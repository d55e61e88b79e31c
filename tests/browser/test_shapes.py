"""The steps through multi-head attention have the shapes that the model's own tensors have."""

import inspect
import itertools
import math
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

import transformer
from browser_pages import BASE_URL
from transformer import MultiHeadAttention, scaled_dot_product_attention

LIGHT_PAGE_URL = f"{BASE_URL}404.html"  # a light page to call the module on
SIZES = [(2, 5, 8, 2), (1, 1, 4, 4), (4, 8, 512, 8), (3, 2, 12, 3), (2, 7, 6, 1)]
STEPS_SCRIPT = """async (sizes) => {
  const { steps } = await import("/assets/widgets/shapes.js");
  return sizes.map((each) => steps(...each));
}"""


def model_shapes(batch: int, n: int, d_model: int, nhead: int) -> list[list[int]]:
    """The shapes of the model's tensors after each line of multi-head attention."""
    attention = MultiHeadAttention(d_model, nhead)
    x = torch.randn(batch, n, d_model)
    mapped = attention.query(x)
    view = mapped.unflatten(-1, (nhead, -1))
    query, key, value = (
        attention.split(linear(x)) for linear in (attention.query, attention.key, attention.value)
    )
    scores = query @ key.transpose(-2, -1)
    heads, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close((scores / math.sqrt(query.size(-1))).softmax(dim=-1), weights)
    merged = heads.transpose(1, 2)
    joined = merged.flatten(2)
    output, _ = attention(x, x, x)
    tensors = [x, mapped, view, query, scores, weights, heads, merged, joined, output]
    return [[*tensor.shape] for tensor in tensors]


@pytest.mark.parametrize("width", [1280])
def test_every_step_is_a_line_of_the_model_and_has_its_shape(checked_page):
    checked_page.goto(LIGHT_PAGE_URL)
    lines = {line.split("  #")[0].strip() for line in inspect.getsource(transformer).splitlines()}
    for sizes, steps in zip(SIZES, checked_page.evaluate(STEPS_SCRIPT, SIZES), strict=True):
        assert {step["code"] for step in steps} <= lines
        shapes = [[size for _, size in step["shape"]] for step in steps]
        assert shapes == model_shapes(*sizes)
        for before, step in itertools.pairwise(steps):
            assert [size for _, size in step["from"][0]] == [size for _, size in before["shape"]]


@pytest.fixture
def shapes_widget(open_widget) -> Locator:
    return open_widget("shapes")


def shown_shape(shapes_widget: Locator) -> list[int]:
    """The shape after the step, as a reader sees it."""
    return [
        int(size)
        for size in shapes_widget.locator(".sizes .shape").last.locator("b").all_inner_texts()
    ]


def test_buttons_step_to_the_end_and_back(shapes_widget):
    back, forward = shapes_widget.locator("button").all()
    expected = model_shapes(2, 5, 8, 2)
    explanations, outlined, colors = set(), [], {}
    for shape in expected:
        assert shown_shape(shapes_widget) == shape
        explanations.add(shapes_widget.locator(".explanation").inner_text())
        for name, color in shapes_widget.locator(".axis").evaluate_all(
            "axes => axes.map(axis => [axis.classList[1], getComputedStyle(axis).color])"
        ):
            assert colors.setdefault(name, color) == color
        outlined.append(shapes_widget.locator(".token").count())
        forward.click()
    assert len(explanations) == len(expected)
    assert len(set(colors.values())) == 5  # the keys' positions have the positions' color
    assert outlined == [1, 1, 1, 2, 2, 2, 2, 1, 1, 1]  # a row in each head while there are heads
    assert shown_shape(shapes_widget) == expected[-1], "there is no step after the last"
    for shape in expected[-2::-1]:
        back.click()
        assert shown_shape(shapes_widget) == shape


def test_a_d_model_not_divisible_by_nhead_shows_the_models_error(shapes_widget):
    nhead = shapes_widget.locator("input").nth(2)
    nhead.press("ArrowRight")  # 3 heads for 8 features
    with pytest.raises(ValueError) as error:
        MultiHeadAttention(8, 3)
    expect(shapes_widget.locator(".operation")).to_have_text(f"ValueError: {error.value}")
    expect(shapes_widget.locator(".sizes")).to_have_count(0)
    nhead.press("ArrowRight")
    assert shown_shape(shapes_widget) == [2, 5, 8]


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_every_control_works_with_the_keyboard(checked_page, shapes_widget):
    shapes_widget.locator("input").first.focus()
    checked_page.keyboard.press("ArrowRight")  # batch 3
    for key in ("Tab", "ArrowLeft", "Tab", "ArrowDown", "Tab", "ArrowRight", "ArrowRight"):
        checked_page.keyboard.press(key)  # n 4, d_model 12, nhead 4
    checked_page.keyboard.press("Tab")
    checked_page.keyboard.press("Tab")
    for _ in range(3):
        checked_page.keyboard.press("Enter")
    assert shown_shape(shapes_widget) == [3, 4, 4, 3]
    assert re.search("transpose", shapes_widget.locator(".operation").inner_text())
