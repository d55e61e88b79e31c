"""The steps through multi-head attention have the shapes that the model's own tensors have."""

import inspect
import itertools
import math
import re

import pytest
import torch
from playwright.sync_api import Locator, expect

import transformer
from browser_pages import BASE, LANGUAGE_AT
from transformer import MultiHeadAttention, scaled_dot_product_attention

LIGHT = f"{BASE}404.html"  # a light page to call the module on
SIZES = [(2, 5, 8, 2), (1, 1, 4, 4), (4, 8, 512, 8), (3, 2, 12, 3), (2, 7, 6, 1)]
STEPS = """async (sizes) => {
  const { steps } = await import("/assets/widgets/shapes.js");
  return sizes.map((each) => steps(...each));
}"""


def shapes(batch: int, n: int, d_model: int, nhead: int) -> list[list[int]]:
    """What the model's own lines make of a batch, one after the other."""
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
    back = heads.transpose(1, 2)
    joined = back.flatten(2)
    output, _ = attention(x, x, x)
    tensors = [x, mapped, view, query, scores, weights, heads, back, joined, output]
    return [[*tensor.shape] for tensor in tensors]


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


@pytest.mark.parametrize("width", [1280])
def test_every_shape_is_that_of_the_models_own_tensor(reader):
    reader.goto(LIGHT)
    for sizes, found in zip(SIZES, reader.evaluate(STEPS, SIZES), strict=True):
        messages = [[size for _, size in step["shape"]] for step in found]
        assert messages == shapes(*sizes)


@pytest.mark.parametrize("width", [1280])
def test_each_step_goes_on_from_the_shape_before_and_multiplies_what_fits(reader):
    reader.goto(LIGHT)
    for found in reader.evaluate(STEPS, SIZES):
        for before, step in itertools.pairwise(found):
            sizes = [[size for _, size in shape] for shape in step["from"]]
            assert sizes[0] == [size for _, size in before["shape"]]
            if len(sizes) == 2:
                product = torch.empty(sizes[0]) @ torch.empty(sizes[1])
                assert [*product.shape] == [size for _, size in step["shape"]]


@pytest.mark.parametrize("width", [1280])
def test_the_code_of_each_step_is_a_line_of_the_model(reader):
    reader.goto(LIGHT)
    lines = {line.split("  #")[0].strip() for line in inspect.getsource(transformer).splitlines()}
    for step in reader.evaluate(STEPS, SIZES[:1])[0]:
        assert step["code"] in lines


@pytest.fixture
def figure(reader, home) -> Locator:
    reader.goto(f"{home}attention/")
    figure = reader.locator("[data-widget=shapes]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".live")).to_be_visible()
    return figure


def shown(figure: Locator) -> list[int]:
    """The shape after the step, as a reader sees it."""
    return [
        int(size) for size in figure.locator(".sizes .shape").last.locator("b").all_inner_texts()
    ]


def test_a_reader_steps_on_to_the_end_and_back(figure):
    back, on = figure.locator("button").all()
    expected = shapes(2, 5, 8, 2)
    messages = set()
    for shape in expected:
        assert shown(figure) == shape
        messages.add(figure.locator(".explanation").inner_text())
        axes = (
            figure.locator(".sizes .shape")
            .last.locator(".axis")
            .evaluate_all(
                "axes => axes.map(axis => [axis.className, getComputedStyle(axis).color])"
            )
        )
        assert len({name for name, _ in axes}) == len(axes), "an axis is there twice"
        on.click()
    assert len(messages) == len(expected)
    assert shown(figure) == expected[-1], "there is no step after the last"
    for shape in expected[-2::-1]:
        back.click()
        assert shown(figure) == shape


def test_a_width_that_heads_do_not_divide_is_refused_in_the_models_words(figure):
    nhead = figure.locator("input").nth(2)
    nhead.press("ArrowRight")  # 3 heads for 8 features
    with pytest.raises(ValueError) as error:
        MultiHeadAttention(8, 3)
    expect(figure.locator(".operation")).to_have_text(f"ValueError: {error.value}")
    expect(figure.locator(".sizes")).to_have_count(0)
    nhead.press("ArrowRight")
    assert shown(figure) == [2, 5, 8]


@pytest.mark.parametrize("width", [1280])
def test_other_sizes_change_every_shape(figure):
    figure.locator("input").nth(0).press("End")  # batch 4
    figure.locator("input").nth(1).press("Home")  # n 1
    figure.locator("select").select_option("512")
    figure.locator("input").nth(2).press("End")  # 8 heads
    step = figure.locator("input").nth(3)
    step.press("Home")
    for shape in shapes(4, 1, 512, 8):
        assert shown(figure) == shape
        step.press("ArrowRight")


@pytest.mark.parametrize("width", [1280])
def test_each_axis_has_its_own_color_and_the_outline_stays_with_one_token(figure):
    colours: dict[str, str] = {}
    outlined = []
    for _ in range(10):
        for name, colour in figure.locator(".axis").evaluate_all(
            "axes => axes.map(axis => [axis.classList[1], getComputedStyle(axis).color])"
        ):
            assert colours.setdefault(name, colour) == colour
        outlined.append(figure.locator(".token").count())
        figure.locator("button").nth(1).click()
    assert len(set(colours.values())) == 5  # the keys' positions have the positions' color
    assert outlined == [1, 1, 1, 2, 2, 2, 2, 1, 1, 1]  # a row in each head while there are heads


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_the_keyboard_alone_does_everything(reader, figure):
    figure.locator("input").first.focus()
    reader.keyboard.press("ArrowRight")  # batch 3
    for key in ("Tab", "ArrowLeft", "Tab", "ArrowDown", "Tab", "ArrowRight", "ArrowRight"):
        reader.keyboard.press(key)  # n 4, d_model 12, nhead 4
    reader.keyboard.press("Tab")
    reader.keyboard.press("Tab")
    for _ in range(3):
        reader.keyboard.press("Enter")
    assert shown(figure) == [3, 4, 4, 3]
    assert re.search("transpose", figure.locator(".operation").inner_text())
