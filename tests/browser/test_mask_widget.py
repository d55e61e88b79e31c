"""The widget of masks shows the model's masks, also in the conventions of other libraries."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from playwright.sync_api import Locator, expect

from browser_pages import LIGHT_PAGE_URL
from transformer import causal_mask, padding_mask

WIDGET = "masks"
MASK_SIGNS = {"True": "T", "False": "F", "-inf": "−∞", "0.0": "0", "0": "0", "1": "1"}
NAMES = ("attention", "kind", "convention", "source", "target")
CHOICES = [
    dict(zip(NAMES, (attention, kind, convention, *lengths), strict=True))
    for attention, kind in [
        *itertools.product(("encoder", "decoder"), ("padding", "causal", "both")),
        ("cross", "padding"),
    ]
    for convention in ("ours", "torch", "added", "hugging")
    for lengths in (([5, 2], [4, 6]), ([1, 1], [6, 1]), ([3, 6], [2, 2]))
]
INITIAL = {"attention": "decoder", "kind": "both", "source": [5, 2], "target": [5, 3]}

wide_only = pytest.mark.parametrize("width", [1280])


def padded_ids(lengths: list[int]) -> torch.Tensor:
    """Sentences of these lengths, padded with 0."""
    return (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()


def model_variables(attention, kind, source, target, **_) -> dict:
    """The variables of the code that the widget shows, from the model's functions."""
    src, tgt = padded_ids(source), padded_ids(target)
    padding = padding_mask(tgt if attention == "decoder" else src)
    causal = causal_mask((src if attention == "encoder" else tgt).size(1))
    mask = padding if kind == "padding" else causal if kind == "causal" else causal & padding
    return {"src": src, "tgt": tgt, "padding": padding, "causal": causal, "mask": mask}


def expected_masks(convention, kind, **choice) -> list[torch.Tensor]:
    """Each mask argument of a library."""
    model = SimpleNamespace(**model_variables(kind=kind, **choice))
    if convention == "ours":
        return [model.mask]
    if convention == "added":
        return [torch.where(model.mask, 0.0, -torch.inf)]
    real, causal = model.padding[:, 0, 0], model.causal[0, 0]
    padding = [~real if convention == "torch" else real.long()] if kind != "causal" else []
    return padding + ([~causal] if convention == "torch" and kind != "padding" else [])


def mask_signs(mask: torch.Tensor, num_queries: int) -> list:
    """The matrices of a mask, a row for each query or sentence."""
    grids = mask.expand(-1, 1, num_queries, -1)[:, 0] if mask.dim() == 4 else mask[None]
    return [[[MASK_SIGNS[str(value)] for value in row] for row in grid] for grid in grids.tolist()]


@wide_only
def test_every_mask_and_its_code_are_those_of_the_model_in_each_convention(checked_page):
    checked_page.goto(LIGHT_PAGE_URL)
    found = checked_page.evaluate(
        """async (choices) => {
          const { SIGNS, tensors } = await import("/assets/widgets/masks.js");
          return choices.map((choice) => tensors(choice).map(({ shape, from, grids }) =>
            [shape, from, grids.map((grid) => grid.map((row) =>
              row.map((may) => SIGNS[choice.convention][Number(!may)])))]));
        }""",
        CHOICES,
    )
    functions = {"torch": torch, "padding_mask": padding_mask, "causal_mask": causal_mask}
    for choice, tensors in zip(CHOICES, found, strict=True):
        model = model_variables(**choice)
        for (shape, code, signs), mask in zip(tensors, expected_masks(**choice), strict=True):
            assert shape == [*mask.shape], choice
            assert signs == mask_signs(mask, model["causal"].size(-1)), choice
            torch.testing.assert_close(eval(code, functions | model), mask)


def select_option(widget: Locator, select_index: int, value: str) -> None:
    widget.locator("select").nth(select_index).select_option(value)


def shown_signs(widget: Locator) -> list:
    """The signs in the tables, as a reader sees them."""
    return widget.locator("table").evaluate_all(
        """tables => tables.map(table => [...table.tBodies[0].rows].map(row =>
             [...row.cells].slice(1).map(cell => cell.textContent)))"""
    )


def test_allowed_cells_are_filled_in_every_convention(widget):
    for convention, allowed in (("ours", "T"), ("added", "0"), ("torch", "F"), ("hugging", "1")):
        select_option(widget, 2, convention)
        masks = expected_masks(convention, **INITIAL)
        assert shown_signs(widget) == [grid for mask in masks for grid in mask_signs(mask, 5)]
        cells = widget.locator("tbody td")
        filled = cells.evaluate_all("all => all.map((cell) => cell.classList.contains('may'))")
        assert filled == [text == allowed for text in cells.all_inner_texts()]


@wide_only
def test_lengths_change_the_mask_and_invalid_choices_are_disabled(widget):
    select_option(widget, 0, "cross")
    kinds, lengths = widget.locator("select").nth(1), widget.locator("input")
    expect(kinds).to_have_value("padding")
    for kind in ("causal", "both"):
        expect(kinds.locator(f"[value={kind}]")).to_be_disabled()
    lengths.nth(1).press("End")  # 6
    lengths.nth(3).press("Home")  # 1
    choice = {"attention": "cross", "kind": "padding", "source": [5, 6], "target": [5, 1]}
    assert shown_signs(widget) == mask_signs(*expected_masks("ours", **choice), 5)
    select_option(widget, 0, "encoder")
    assert [each.is_disabled() for each in lengths.all()] == [False, False, True, True]


def test_each_cell_is_described_in_words_also_by_keyboard(checked_page, widget, language):
    explanation = widget.locator(".explanation")
    widget.locator("table").nth(1).locator("tbody tr").nth(3).locator("td").nth(3).focus()
    checked_page.keyboard.press("ArrowRight")
    output = {
        "en": "Sentence 2: query 3 may not look at key 4 "
        "(it is padding and it comes later). Written False.",
        "zh": "第 2 句：查询 3 不能看键 4（是填充符，而且在后面）。写作 False。",
    }
    expect(explanation).to_have_text(output[language])
    select_option(widget, 2, "torch")
    widget.locator("table").nth(0).locator("tbody tr").nth(1).locator("td").nth(4).click()
    output = {
        "en": "Sentence 2: no query may look at key 4 (it is padding). Written True.",
        "zh": "第 2 句：每个查询都不能看键 4（是填充符）。写作 True。",
    }
    expect(explanation).to_have_text(output[language])
