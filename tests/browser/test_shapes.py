"""The steps through multi-head attention have the shapes that the model's own tensors have."""

import inspect
import itertools

import pytest
import torch
from playwright.sync_api import Locator, expect

import transformer
from browser_pages import LIGHT_PAGE_URL
from transformer import MultiHeadAttention, scaled_dot_product_attention

WIDGET = "shapes"
SIZES = [(2, 5, 8, 2), (1, 1, 4, 4), (4, 8, 512, 8), (3, 2, 12, 3)]
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
    query = attention.split(mapped)
    scores = query @ query.transpose(-2, -1)
    heads, weights = scaled_dot_product_attention(query, query, query)
    merged = heads.transpose(1, 2)
    output, _ = attention(x, x, x)
    tensors = [x, mapped, view, query, scores, weights, heads, merged, merged.flatten(2), output]
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


def shown_shape(widget: Locator) -> list[int]:
    """The shape after the step, as a reader sees it."""
    return [*map(int, widget.locator(".sizes .shape").last.locator("b").all_inner_texts())]


def test_buttons_step_to_the_end_and_back(widget):
    back, forward = widget.locator("button").all()
    expected = model_shapes(2, 5, 8, 2)
    explanations, outlined, colors = set(), [], {}
    for shape in expected:
        assert shown_shape(widget) == shape
        explanations.add(widget.locator(".explanation").inner_text())
        for name, color in widget.locator(".axis").evaluate_all(
            "axes => axes.map(axis => [axis.classList[1], getComputedStyle(axis).color])"
        ):
            assert colors.setdefault(name, color) == color
        outlined.append(widget.locator(".token").count())
        forward.press("Enter")
    assert len(explanations) == len(expected)
    assert len(set(colors.values())) == 5  # the keys' positions have the positions' color
    assert outlined == [1, 1, 1, 2, 2, 2, 2, 1, 1, 1]  # a row in each head while there are heads
    assert shown_shape(widget) == expected[-1], "there is no step after the last"
    for shape in expected[-2::-1]:
        back.click()
        assert shown_shape(widget) == shape


def test_a_d_model_not_divisible_by_nhead_shows_the_models_error(widget):
    batch, n, nhead = widget.locator("input[type=range]").all()[:3]
    nhead.press("ArrowRight")  # 3 heads for 8 features
    with pytest.raises(ValueError) as error:
        MultiHeadAttention(8, 3)
    expect(widget.locator(".operation")).to_have_text(f"ValueError: {error.value}")
    expect(widget.locator(".sizes")).to_have_count(0)
    nhead.press("ArrowRight")
    batch.press("ArrowRight")
    n.press("ArrowLeft")
    widget.locator("select").press("ArrowDown")
    assert shown_shape(widget) == [3, 4, 12]
