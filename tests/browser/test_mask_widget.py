"""The widget of masks shows the model's masks, also in the conventions of other libraries."""

import itertools

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import BASE_URL
from transformer import causal_mask, padding_mask

LIGHT_PAGE_URL = f"{BASE_URL}404.html"  # a light page to call the module on
MASK_SIGNS = {"True": "T", "False": "F", "-inf": "−∞", "0.0": "0", "0": "0", "1": "1"}


def padded_ids(lengths: list[int]) -> torch.Tensor:
    """Sentences of these lengths, padded with 0."""
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()


def expected_masks(
    attention, kind, convention, source, target
) -> list[tuple[list[int], torch.Tensor]]:
    """The shape and content of each mask argument, from the model's functions."""
    queries = source if attention == "encoder" else target
    keys = target if attention == "decoder" else source
    n, m = max(queries), max(keys)
    padding, causal = padding_mask(padded_ids(keys)), causal_mask(n)
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


def mask_signs(grids: torch.Tensor) -> list:
    return [[[MASK_SIGNS[str(value)] for value in row] for row in grid] for grid in grids.tolist()]


NAMES = ("attention", "kind", "convention", "source", "target")
CHOICES = [
    (attention, kind, convention, source, target)
    for attention, kind in [
        *itertools.product(("encoder", "decoder"), ("padding", "causal", "both")),
        ("cross", "padding"),
    ]
    for convention in ("ours", "torch", "added", "hugging")
    for source, target in (([5, 2], [4, 6]), ([1, 1], [6, 1]), ([3, 6], [2, 2]))
]


@pytest.mark.parametrize("width", [1280])
def test_every_mask_equals_that_of_the_model_in_each_convention(checked_page):
    checked_page.goto(LIGHT_PAGE_URL)
    found = checked_page.evaluate(
        """async (choices) => {
          const { SIGNS, tensors } = await import("/assets/widgets/masks.js");
          return choices.map((choice) => tensors(choice).map(({ shape, grids }) =>
            [shape, grids.map((grid) => grid.map((row) =>
              row.map((may) => SIGNS[choice.convention][Number(!may)])))]));
        }""",
        [dict(zip(NAMES, choice, strict=True)) for choice in CHOICES],
    )
    for choice, tensors in zip(CHOICES, found, strict=True):
        assert tensors == [
            [shape, mask_signs(grids)] for shape, grids in expected_masks(*choice)
        ], choice


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_the_shown_code_creates_the_shown_masks(checked_page, home_url):
    """Run the code that the widget shows above each matrix."""
    checked_page.goto(LIGHT_PAGE_URL)
    chosen = [each for each in CHOICES if each[3:] == ([5, 2], [4, 6])]
    codes = checked_page.evaluate(
        """async (choices) => {
          const { tensors } = await import("/assets/widgets/masks.js");
          return choices.map((choice) => tensors(choice).map(({ from }) => from));
        }""",
        [dict(zip(NAMES, choice, strict=True)) for choice in chosen],
    )
    for choice, lines in zip(chosen, codes, strict=True):
        attention, kind, _, source, target = choice
        src, tgt = padded_ids(source), padded_ids(target)
        padding = padding_mask(tgt if attention == "decoder" else src)
        causal = causal_mask(max(source if attention == "encoder" else target))
        mask = padding if kind == "padding" else causal if kind == "causal" else causal & padding
        known = {"torch": torch, "padding_mask": padding_mask, "causal_mask": causal_mask}
        known |= {"src": src, "tgt": tgt, "padding": padding, "causal": causal, "mask": mask}
        for line, (shape, grids) in zip(lines, expected_masks(*choice), strict=True):
            tensor = eval(line, known)
            assert [*tensor.shape] == shape, choice
            stretched = tensor[:, 0] if tensor.dim() == 4 else tensor[None]
            assert torch.equal(stretched.expand_as(grids), grids), choice


@pytest.fixture
def masks_widget(open_widget) -> Locator:
    return open_widget("masks")


def select_option(masks_widget: Locator, select_index: int, value: str) -> None:
    masks_widget.locator("select").nth(select_index).select_option(value)


def shown_signs(masks_widget: Locator) -> list:
    """The signs in the tables, as a reader sees them."""
    return masks_widget.locator("table").evaluate_all(
        """tables => tables.map(table => [...table.tBodies[0].rows].map(row =>
             [...row.cells].slice(1).map(cell => cell.textContent)))"""
    )


def filled_cells(masks_widget: Locator) -> list:
    return masks_widget.locator("tbody td").evaluate_all(
        "cells => cells.map(cell => cell.classList.contains('may'))"
    )


def test_the_same_cells_stay_filled_in_every_convention(masks_widget):
    mask = expected_masks("decoder", "both", "ours", [5, 2], [5, 3])[0][1]
    assert shown_signs(masks_widget) == mask_signs(mask)
    assert filled_cells(masks_widget) == mask.flatten().tolist()
    select_option(masks_widget, 2, "added")
    assert shown_signs(masks_widget) == mask_signs(torch.where(mask, 0.0, -torch.inf))
    assert filled_cells(masks_widget) == mask.flatten().tolist()
    select_option(masks_widget, 2, "torch")
    key_padding, order = shown_signs(masks_widget)
    both = expected_masks("decoder", "both", "torch", [5, 2], [5, 3])
    assert [[key_padding], [order]] == [mask_signs(grids) for _, grids in both]
    select_option(masks_widget, 2, "hugging")
    expect(masks_widget.locator("table")).to_have_count(1)
    assert shown_signs(masks_widget) == [[["1"] * 5, ["1"] * 3 + ["0"] * 2]]


@pytest.mark.parametrize("width", [1280])
def test_lengths_change_the_mask_and_invalid_choices_are_disabled(masks_widget):
    select_option(masks_widget, 0, "cross")
    kinds = masks_widget.locator("select").nth(1)
    assert kinds.input_value() == "padding"
    for kind in ("causal", "both"):
        expect(kinds.locator(f"[value={kind}]")).to_be_disabled()
    masks_widget.locator("input").nth(1).press("End")  # 6
    masks_widget.locator("input").nth(3).press("Home")  # 1
    mask = expected_masks("cross", "padding", "ours", [5, 6], [5, 1])[0][1]
    assert shown_signs(masks_widget) == mask_signs(mask)
    select_option(masks_widget, 0, "encoder")
    assert [each.is_disabled() for each in masks_widget.locator("input").all()] == [
        False, False, True, True,
    ]  # fmt: skip


def test_each_cell_is_described_in_words(masks_widget, language):
    cell = masks_widget.locator("table").nth(1).locator("tbody tr").nth(3).locator("td").nth(4)
    cell.click()
    output = {
        "en": "Sentence 2: query 3 may not look at key 4 "
        "(it is padding and it comes later). Written False.",
        "zh": "第 2 句：查询 3 不能看键 4（是填充符，而且在后面）。写作 False。",
    }
    expect(masks_widget.locator(".explanation")).to_have_text(output[language])
    select_option(masks_widget, 2, "torch")
    row = masks_widget.locator("table").nth(0).locator("tbody tr").nth(1).locator("td")
    row.nth(1).click()
    output = {
        "en": "Sentence 2: every query may look at key 1. Written False.",
        "zh": "第 2 句：每个查询都可以看键 1。写作 False。",
    }
    expect(masks_widget.locator(".explanation")).to_have_text(output[language])
    row.nth(4).click()
    output = {
        "en": "Sentence 2: no query may look at key 4 (it is padding). Written True.",
        "zh": "第 2 句：每个查询都不能看键 4（是填充符）。写作 True。",
    }
    expect(masks_widget.locator(".explanation")).to_have_text(output[language])


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_keys_move_the_focus_between_cells(checked_page, masks_widget):
    masks_widget.locator("input").last.focus()
    checked_page.keyboard.press("Tab")
    output = masks_widget.locator(".explanation")
    expect(output).to_have_text("Sentence 1: query 0 may look at key 0. Written True.")
    checked_page.keyboard.press("ArrowRight")
    expect(output).to_have_text(
        "Sentence 1: query 0 may not look at key 1 (it comes later). Written False."
    )
    checked_page.keyboard.press("ArrowDown")
    expect(output).to_contain_text("query 1 may look at key 1")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp"):  # there is no cell above the first row
        checked_page.keyboard.press(key)
    expect(output).to_contain_text("query 0 may not look at key 1")
    checked_page.keyboard.press("Tab")
    expect(output).to_contain_text("Sentence 2: query 0 may look at key 0")
    checked_page.keyboard.press("Shift+Tab")
    expect(output).to_contain_text("Sentence 1: query 0 may not look at key 1")
