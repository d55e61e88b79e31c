"""Mistakes with masks and attention: each fails as described, its repair works."""

import pytest
import torch
import torch.nn.functional as F

from helpers import load_pitfall, numbers
from marks import claim
from mask_helpers import assert_near
from transformer import (
    causal_mask,
    scaled_dot_product_attention,
)

CHAPTER = "pitfalls"
pytestmark = pytest.mark.usefixtures("seeded")


@claim("pitfalls-masks#inverted-mask")
def test_an_inverted_mask_has_the_right_shape_and_reads_nothing_but_the_future(printed):
    shown = printed("pitfalls", "inverted_mask", "")
    for what in "shape as it should be", "all finite":
        assert shown[f"wrong, {what}"] == "True"
    assert shown["wrong, position 2 reads"] == "[3, 4]"


@claim("pitfalls-masks#mask-per-head")
def test_masks_without_a_head_axis_are_applied_to_the_heads():
    """Head h takes the mask of sentence h, if there are as many of both."""
    pitfall = load_pitfall("mask_per_head")
    query, key, value = torch.randn(3, 3, 3, 5, 4)
    mask = torch.rand(3, 5, 5) > 0.4
    mask[..., 0] = True
    expected = [scaled_dot_product_attention(query, key, value, each)[0] for each in mask]
    wrong = pitfall.wrong_attention(query, key, value, mask)
    right = pitfall.right_attention(query, key, value, mask)
    for i in range(3):
        assert_near(wrong[:, i], expected[i][:, i])
        assert_near(right[i], expected[i][i])


@claim("pitfalls-masks#mask-per-head")
def test_masks_without_a_head_axis_fail_with_another_batch_size_except_1(printed):
    shown = printed("pitfalls", "mask_per_head", "")
    assert shown["wrong, a batch of three"] == "RuntimeError"
    assert shown["right, a batch of three"] == "runs"
    pitfall = load_pitfall("mask_per_head")
    query, key, value = torch.randn(3, 1, 4, 5, 4)
    expected = pitfall.right_attention(query, key, value, causal_mask(5)[0])
    assert_near(pitfall.wrong_attention(query, key, value, causal_mask(5)[0]), expected)


@claim("pitfalls-masks#half-precision")
def test_minus_a_billion_raises_an_error_or_gives_nan_only_in_float16():
    pitfall = load_pitfall("half_precision")
    scores, hidden = torch.randn(6), torch.arange(6) > 3
    for wide in scores, scores.bfloat16():
        expected = pitfall.right_weights(wide, hidden)
        assert pitfall.wrong_replaced(wide, hidden).equal(expected)
        assert pitfall.wrong_added(wide, hidden).equal(expected)
    half = scores.half()
    with pytest.raises(RuntimeError, match="overflow"):
        pitfall.wrong_replaced(half, hidden)
    assert pitfall.wrong_added(half, hidden).isnan().all()
    expected = F.pad(half[:4].softmax(dim=0), (0, 2))
    assert_near(pitfall.right_weights(half, hidden), expected, 1e-3)
    mask = (~hidden).half()
    assert_near((half + (1 - mask) * -1e9).softmax(dim=0), expected, 1e-3)  # a Python number
    assert (half + (1 - 0 * mask) * -1e9).softmax(dim=0).isnan().all()  # no allowed key


@claim("pitfalls-masks#leaking-fill")
def test_minus_ten_thousand_leaks_if_the_scores_are_as_large(printed):
    shown = printed("pitfalls", "finite_fill", "")
    for factor in 1, 30, 100, 300:
        largest = float(shown[f"vectors times {factor}, largest score"])
        leaked = numbers(shown[f"wrong, vectors times {factor}, to the future"])[0]
        assert (leaked > 1) == (largest > 1e4)
        assert shown[f"right, vectors times {factor}, to the future"] == "0.0%"


@claim("pitfalls-masks#after-softmax")
def test_a_mask_after_the_softmax_loses_weight_and_leaks_the_future(printed):
    shown = printed("pitfalls", "mask_after_softmax", "")
    assert shown["wrong, to the future"] == "0.00"
    assert max(numbers(shown["wrong, sum of each row"])[:-1]) < 0.9
    assert float(shown["wrong, the past moves with the future by"]) > 0.1
    pitfall = load_pitfall("mask_after_softmax")
    scores, mask = torch.randn(6, 6), causal_mask(6)[0, 0]
    weights = pitfall.wrong_weights(scores, mask)
    repaired = weights / weights.sum(dim=-1, keepdim=True)
    assert_near(repaired, pitfall.right_weights(scores, mask))


@claim("pitfalls-masks#empty-row")
def test_only_the_row_with_no_allowed_key_differs():
    pitfall = load_pitfall("empty_row")
    x, mask = torch.randn(2, 3, 4), torch.tensor([[1, 1, 0], [0, 0, 0]]).bool().unsqueeze(1)
    wrong, right = pitfall.wrong_attention(x, mask), pitfall.right_attention(x, mask)
    assert_near(wrong[0], right[0])
    assert wrong[1].isnan().all() and not right[1].any()


@claim("pitfalls-masks#query-length")
def test_keys_split_by_the_query_length_fail_unless_the_lengths_agree(printed):
    shown = printed("pitfalls", "query_length", "")
    assert shown["wrong, 6 keys, equal"] == "True"
    assert "invalid" in shown["wrong, 9 keys for 6 queries"]
    pitfall = load_pitfall("query_length")
    query, shorter = torch.randn(2, 6, 32), torch.randn(2, 3, 32)
    with pytest.raises(RuntimeError):
        pitfall.wrong_attention(query, shorter, shorter, 4)
    q, k = (x.unflatten(-1, (4, 8)).transpose(1, 2) for x in (query, shorter))
    expected, _ = scaled_dot_product_attention(q, k, k)
    found = pitfall.right_attention(query, shorter, shorter, 4)
    assert_near(found, expected.transpose(1, 2).flatten(2))


@claim("pitfalls-masks#source-is-target")
def test_a_model_with_its_target_as_source_cannot_generate(printed):
    shown = {
        label: numbers(value)[0]
        for label, value in printed("pitfalls", "source_is_target", "").items()
    }
    for name in "wrong", "right":
        assert shown[f"{name}, tokens right with the whole target"] > 90
    assert shown["a guess"] == 10 and shown["wrong, the next token right after five"] < 15
    assert shown["right, the next token right after five"] > 90


@claim("pitfalls-masks#softmax-axis")
def test_axis_1_is_right_for_a_matrix_and_wrong_with_more_axes():
    pitfall = load_pitfall("softmax_axis")
    for size in (5, 7), (2, 5, 7), (2, 4, 5, 7):
        scores = torch.randn(size)
        wrong, right = pitfall.wrong_weights(scores), pitfall.right_weights(scores)
        assert_near(right.sum(dim=-1), torch.ones(size[:-1]))
        assert torch.allclose(wrong, right) == (len(size) == 2)
        total = wrong.sum(dim=1)  # rows, then the queries, then the heads
        assert_near(total, torch.ones_like(total))
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        assert F.softmax(scores).equal(wrong)


@claim("pitfalls-masks#softmax-axis")
def test_a_softmax_over_the_heads_undoes_the_mask():
    hidden = ~causal_mask(5)[0, 0]
    scores = torch.randn(2, 4, 5, 5).masked_fill(hidden, -1e9)
    weights = load_pitfall("softmax_axis").wrong_weights(scores)
    assert_near(weights[..., hidden], torch.full((2, 4, 10), 1 / 4))
