"""The figure of masks shows what our functions make, and what the page makes of it for others."""

import itertools

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import BASE, LANGUAGE_AT
from transformer import causal_mask, padding_mask

LIGHT = f"{BASE}404.html"  # a light page to call the module on
SIGNS = {"True": "T", "False": "F", "-inf": "−∞", "0.0": "0", "0": "0", "1": "1"}


def ids(lengths: list[int]) -> torch.Tensor:
    """Sentences of these lengths, padded with 0."""
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()


def expected(attention, kind, convention, source, target) -> list[tuple[list[int], torch.Tensor]]:
    """Shape and content of what is passed: with the model's functions, and the page's table."""
    queries = source if attention == "encoder" else target
    keys = target if attention == "decoder" else source
    n, m = max(queries), max(keys)
    padding, causal = padding_mask(ids(keys)), causal_mask(n)
    if convention in ("ours", "added"):
        mask = {"padding": padding, "causal": causal}.get(kind)
        mask = causal & padding if mask is None else mask
        shape = [*mask.shape]
        mask = mask.expand(len(mask), 1, n, m)[:, 0]
        if convention == "added":
            mask = torch.where(mask, 0.0, -torch.inf)
        return [(shape, mask)]
    passed = []
    if kind != "causal":
        ours = padding[:, 0, 0]
        passed.append(([2, m], (~ours if convention == "torch" else ours.long())[None]))
    if kind != "padding" and convention == "torch":
        passed.append(([n, n], (~causal[0, 0])[None]))
    return passed


def signs(grids: torch.Tensor) -> list:
    return [[[SIGNS[str(value)] for value in row] for row in grid] for grid in grids.tolist()]


CHOICES = [
    (attention, kind, convention, source, target)
    for attention, kind in [
        *itertools.product(("encoder", "decoder"), ("padding", "causal", "both")),
        ("cross", "padding"),
    ]
    for convention in ("ours", "torch", "added", "hugging")
    for source, target in (([5, 2], [4, 6]), ([1, 1], [6, 1]), ([3, 6], [2, 2]))
]


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


@pytest.mark.parametrize("width", [1280])
def test_every_mask_is_the_models_own_in_each_convention(reader):
    reader.goto(LIGHT)
    names = ("attention", "kind", "convention", "source", "target")
    found = reader.evaluate(
        """async (choices) => {
          const { SIGNS, tensors } = await import("/assets/widgets/masks.js");
          return choices.map((choice) => tensors(choice).map(({ shape, grids }) =>
            [shape, grids.map((grid) => grid.map((row) =>
              row.map((may) => SIGNS[choice.convention][Number(!may)])))]));
        }""",
        [dict(zip(names, choice, strict=True)) for choice in CHOICES],
    )
    for choice, tensors in zip(CHOICES, found, strict=True):
        assert tensors == [[shape, signs(grids)] for shape, grids in expected(*choice)], choice


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_the_lines_that_make_them_make_them(reader, home):
    """What the figure prints above each matrix, run as it is."""
    reader.goto(LIGHT)
    source, target = [5, 2], [4, 6]
    for attention, kind, convention in [
        ("encoder", "padding", "ours"),
        ("decoder", "both", "ours"),
        ("decoder", "causal", "ours"),
        ("cross", "padding", "added"),
        ("decoder", "both", "torch"),
        ("encoder", "padding", "hugging"),
    ]:
        choice = (attention, kind, convention, source, target)
        names = ("attention", "kind", "convention", "source", "target")
        lines = reader.evaluate(
            """async (choice) => {
              const { tensors } = await import("/assets/widgets/masks.js");
              return tensors(choice).map(({ from }) => from);
            }""",
            dict(zip(names, choice, strict=True)),
        )
        keys = target if attention == "decoder" else source
        known = {"torch": torch, "padding_mask": padding_mask, "causal_mask": causal_mask}
        known |= {"src": ids(source), "tgt": ids(target), "padding": padding_mask(ids(keys))}
        known |= {"causal": causal_mask(max(keys)), "mask": padding_mask(ids(keys))}
        made = [eval(line, known) for line in lines]
        for tensor, (shape, grids) in zip(made, expected(*choice), strict=True):
            assert [*tensor.shape] == shape
            stretched = tensor[:, 0] if tensor.dim() == 4 else tensor[None]
            assert torch.equal(stretched.expand_as(grids), grids)


@pytest.fixture
def figure(reader, home) -> Locator:
    reader.goto(f"{home}masks/")
    figure = reader.locator("[data-widget=masks]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".live")).to_be_visible()
    return figure


def choose(figure: Locator, which: int, value: str) -> None:
    figure.locator("select").nth(which).select_option(value)


def shown(figure: Locator) -> list:
    """The signs in the tables, as a reader sees them."""
    return figure.locator("table").evaluate_all(
        """tables => tables.map(table => [...table.tBodies[0].rows].map(row =>
             [...row.cells].slice(1).map(cell => cell.textContent)))"""
    )


def filled(figure: Locator) -> list:
    return figure.locator("tbody td").evaluate_all(
        "cells => cells.map(cell => cell.classList.contains('may'))"
    )


def test_the_same_cells_stay_filled_in_every_convention(figure):
    mask = expected("decoder", "both", "ours", [5, 2], [5, 3])[0][1]
    assert shown(figure) == signs(mask)
    assert filled(figure) == mask.flatten().tolist()
    choose(figure, 2, "added")
    assert shown(figure) == signs(torch.where(mask, 0.0, -torch.inf))
    assert filled(figure) == mask.flatten().tolist()
    choose(figure, 2, "torch")
    key_padding, order = shown(figure)
    both = expected("decoder", "both", "torch", [5, 2], [5, 3])
    assert [[key_padding], [order]] == [signs(grids) for _, grids in both]
    choose(figure, 2, "hugging")
    expect(figure.locator("table")).to_have_count(1)
    assert shown(figure) == [[["1"] * 5, ["1"] * 3 + ["0"] * 2]]


@pytest.mark.parametrize("width", [1280])
def test_lengths_change_the_mask(figure):
    choose(figure, 0, "cross")
    source, target = figure.locator("input").nth(1), figure.locator("input").nth(3)
    source.press("End")  # 6
    target.press("Home")  # 1
    mask = expected("cross", "padding", "ours", [5, 6], [5, 1])[0][1]
    assert shown(figure) == signs(mask)


@pytest.mark.parametrize("width", [1280])
def test_what_makes_no_sense_cannot_be_chosen(figure):
    choose(figure, 0, "cross")
    kinds = figure.locator("select").nth(1)
    assert kinds.input_value() == "padding"
    for other in ("causal", "both"):
        expect(kinds.locator(f"[value={other}]")).to_be_disabled()
    choose(figure, 0, "encoder")
    assert [each.is_disabled() for each in figure.locator("input").all()] == [
        False, False, True, True,
    ]  # fmt: skip


def test_each_cell_is_described_in_words(figure, language):
    cell = figure.locator("table").nth(1).locator("tbody tr").nth(3).locator("td").nth(4)
    cell.click()
    output = {
        "en": "Sentence 2: query 3 may not look at key 4 "
        "(it is padding and it comes later). Written False.",
        "zh": "第 2 句：查询 3 不能看键 4（它是填充符，而且它在后面）。写作 False。",
    }
    expect(figure.locator(".explanation")).to_have_text(output[language])
    choose(figure, 2, "torch")
    row = figure.locator("table").nth(0).locator("tbody tr").nth(1).locator("td")
    row.nth(1).click()
    output = {
        "en": "Sentence 2: every query may look at key 1. Written False.",
        "zh": "第 2 句：每个查询都可以看键 1。写作 False。",
    }
    expect(figure.locator(".explanation")).to_have_text(output[language])
    row.nth(4).click()
    output = {
        "en": "Sentence 2: no query may look at key 4 (it is padding). Written True.",
        "zh": "第 2 句：每个查询都不能看键 4（它是填充符）。写作 True。",
    }
    expect(figure.locator(".explanation")).to_have_text(output[language])


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_the_keyboard_leads_from_cell_to_cell(reader, figure):
    figure.locator("input").last.focus()
    reader.keyboard.press("Tab")
    output = figure.locator(".explanation")
    expect(output).to_have_text("Sentence 1: query 0 may look at key 0. Written True.")
    reader.keyboard.press("ArrowRight")
    expect(output).to_have_text(
        "Sentence 1: query 0 may not look at key 1 (it comes later). Written False."
    )
    reader.keyboard.press("ArrowDown")
    expect(output).to_contain_text("query 1 may look at key 1")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp"):  # there is nothing above the first row
        reader.keyboard.press(key)
    expect(output).to_contain_text("query 0 may not look at key 1")
    reader.keyboard.press("Tab")
    expect(output).to_contain_text("Sentence 2: query 0 may look at key 0")
    reader.keyboard.press("Shift+Tab")
    expect(output).to_contain_text("Sentence 1: query 0 may not look at key 1")


@pytest.mark.parametrize("width", [1280])
def test_the_cell_under_the_mouse_is_described_too(figure):
    before = figure.locator(".explanation").inner_text()
    figure.locator("tbody td").nth(3).hover()
    expect(figure.locator(".explanation")).not_to_have_text(before)
