"""Mistakes with masks and attention: each fails as described, its repair works."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import load_pitfall, numbers
from marks import claim, mutation
from mask_helpers import assert_near
from transformer import (
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    scaled_dot_product_attention,
)

CHAPTER = "pitfalls"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


# Masks and attention


@claim("pitfalls-masks#inverted-mask")
@mutation(
    "pitfalls/inverted_mask.py",
    "query, key, value, hidden)",
    "query, key, value, ~hidden)",
    fault="the inverted mask is corrected",
)
def test_an_inverted_mask_has_the_right_shape_and_reads_nothing_but_the_future(printed):
    shown = printed("pitfalls", "inverted_mask", "")
    for what in "shape as it should be", "all finite":
        assert shown[f"wrong, {what}"] == "True"
    assert shown["wrong, position 2 reads"] == "[3, 4]"


@claim("pitfalls-masks#inverted-mask")
def test_with_the_mask_inverted_back_it_is_causal_attention():
    x = torch.randn(3, 2, 5, 8)
    expected, _ = scaled_dot_product_attention(x, x, x, causal_mask(5))
    assert_near(load_pitfall("inverted_mask").right_attention(x, x, x), expected)
    assert_near(F.scaled_dot_product_attention(x, x, x, is_causal=True), expected)


# No axis for the heads


@claim("pitfalls-masks#mask-per-head")
@mutation(
    "pitfalls/mask_per_head.py",
    "    return F.scaled_dot_product_attention(query, key, value, mask)\n\n\ndef right",
    "    return right_attention(query, key, value, mask)\n\n\ndef right",
    fault="the masks get their head axis",
)
def test_masks_without_a_head_axis_are_applied_to_the_heads():
    """Head h takes the mask of sentence h, if there are as many of both."""
    pitfall = load_pitfall("mask_per_head")
    query, key, value = torch.randn(3, 3, 3, 5, 4)
    mask = torch.rand(3, 5, 5) > 0.4
    mask[..., 0] = True
    wrong = pitfall.wrong_attention(query, key, value, mask)
    right = pitfall.right_attention(query, key, value, mask)
    for sentence in range(3):
        for head in range(3):
            parts = query[sentence, head], key[sentence, head], value[sentence, head]
            assert_near(wrong[sentence, head], scaled_dot_product_attention(*parts, mask[head])[0])
            assert_near(
                right[sentence, head], scaled_dot_product_attention(*parts, mask[sentence])[0]
            )


@claim("pitfalls-masks#mask-per-head")
def test_masks_without_a_head_axis_fail_with_another_batch_size(printed):
    shown = printed("pitfalls", "mask_per_head", "")
    assert shown["wrong, a batch of three"] == "RuntimeError"
    assert shown["right, a batch of three"] == "runs"


@claim("pitfalls-masks#mask-per-head")
@mutation(
    "pitfalls/mask_per_head.py",
    "mask = mask.unsqueeze(1)",
    "mask = mask.unsqueeze(1).mT",
    fault="the mask is transposed when it gets its head axis",
)
def test_with_a_single_sentence_a_missing_head_axis_goes_unnoticed():
    pitfall = load_pitfall("mask_per_head")
    query, key, value = torch.randn(3, 1, 4, 5, 4)
    mask = causal_mask(5)[0]
    assert_near(
        pitfall.wrong_attention(query, key, value, mask),
        pitfall.right_attention(query, key, value, mask),
    )


# Minus a billion


@claim("pitfalls-masks#half-precision")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_minus_a_billion_works_in_wider_types(dtype):
    pitfall = load_pitfall("half_precision")
    scores, hidden = torch.randn(4, 6).to(dtype), torch.rand(4, 6) > 0.7
    expected = pitfall.right_weights(scores, hidden)
    assert pitfall.wrong_replaced(scores, hidden).equal(expected)
    assert pitfall.wrong_added(scores, hidden).equal(expected)


@claim("pitfalls-masks#half-precision")
def test_in_float16_filling_with_minus_a_billion_raises_and_adding_it_gives_nan():
    pitfall = load_pitfall("half_precision")
    scores, hidden = torch.randn(6).half(), torch.arange(6) > 3
    with pytest.raises(RuntimeError, match="overflow"):
        pitfall.wrong_replaced(scores, hidden)
    assert pitfall.wrong_added(scores, hidden).isnan().all()
    expected = F.pad(scores[:4].softmax(dim=0), (0, 2))
    assert_near(pitfall.right_weights(scores, hidden), expected, 1e-3)
    mask = (~hidden).half()
    assert_near((scores + (1 - mask) * -1e9).softmax(dim=0), expected, 1e-3)  # a Python number
    assert (scores + (1 - 0 * mask) * -1e9).softmax(dim=0).isnan().all()  # no allowed key


# Minus ten thousand


@claim("pitfalls-masks#leaking-fill")
def test_minus_ten_thousand_leaks_if_the_scores_are_as_large(printed):
    shown = printed("pitfalls", "finite_fill", "")
    for factor in 1, 30, 100, 300:
        largest = float(shown[f"vectors times {factor}, largest score"])
        leaked = numbers(shown[f"wrong, vectors times {factor}, to the future"])[0]
        assert (leaked > 1) == (largest > 1e4)
        assert shown[f"right, vectors times {factor}, to the future"] == "0.0%"


# Too late


@claim("pitfalls-masks#after-softmax")
def test_a_mask_after_the_softmax_loses_weight_and_leaks_the_future(printed):
    shown = printed("pitfalls", "mask_after_softmax", "")
    assert shown["wrong, to the future"] == "0.00"
    assert max(numbers(shown["wrong, sum of each row"])[:-1]) < 0.9
    assert float(shown["wrong, the past moves with the future by"]) > 0.1


@claim("pitfalls-masks#after-softmax")
def test_a_mask_after_the_softmax_is_correct_if_each_row_is_divided_by_its_sum():
    pitfall = load_pitfall("mask_after_softmax")
    scores, mask = torch.randn(6, 6), causal_mask(6)[0, 0]
    wrong, right = pitfall.wrong_weights(scores, mask), pitfall.right_weights(scores, mask)
    sums = wrong.sum(dim=-1, keepdim=True)
    assert (sums[:-1] < 0.999).all()
    assert_near(wrong / sums, right)
    query = torch.eye(6)
    expected = scaled_dot_product_attention(query, scores.T * 6**0.5, scores, mask)[1]
    assert_near(right, expected)


# Empty rows


@claim("pitfalls-masks#empty-row")
def test_only_the_row_with_no_allowed_key_differs():
    pitfall = load_pitfall("empty_row")
    x, mask = torch.randn(2, 3, 4), torch.tensor([[1, 1, 0], [0, 0, 0]]).bool().unsqueeze(1)
    wrong, right = pitfall.wrong_attention(x, mask), pitfall.right_attention(x, mask)
    assert_near(wrong[0], right[0])
    assert wrong[1].isnan().all() and not right[1].any()


# Lengths


@claim("pitfalls-masks#query-length")
@mutation(
    "pitfalls/query_length.py",
    "x.view(batch, n, nhead",
    "x.view(batch, x.size(1), nhead",
    fault="keys are split by their own length",
)
def test_keys_split_by_the_query_length_fail_unless_the_lengths_agree(printed):
    shown = printed("pitfalls", "query_length", "")
    assert shown["wrong, 6 keys, equal"] == "True"
    assert "invalid" in shown["wrong, 9 keys for 6 queries"]
    pitfall = load_pitfall("query_length")
    query, shorter = torch.randn(2, 6, 32), torch.randn(2, 3, 32)
    with pytest.raises(RuntimeError):
        pitfall.wrong_attention(query, shorter, shorter, 4)


@claim("pitfalls-masks#query-length")
@mutation(
    "pitfalls/query_length.py",
    "x.unflatten(-1, (nhead, -1))",
    "x.unflatten(-1, (-1, nhead))",
    fault="the number of heads and their width are swapped",
)
def test_keys_split_by_their_own_length_give_multi_head_attention():
    attention = MultiHeadAttention(32, 4)
    for linear in attention.query, attention.key, attention.value, attention.output:
        nn.init.eye_(linear.weight)
        nn.init.zeros_(linear.bias)
    query, memory = torch.randn(2, 6, 32), torch.randn(2, 9, 32)
    expected, _ = attention(query, memory, memory)
    assert_near(load_pitfall("query_length").right_attention(query, memory, memory, 4), expected)


# The source


@claim("pitfalls-masks#source-is-target")
@mutation(
    "pitfalls/source_is_target.py",
    "return model(given, given)",
    "return model(source, given)",
    fault="the encoder gets the source",
)
def test_a_model_with_its_target_as_source_cannot_generate(printed):
    shown = {
        label: numbers(value)[0]
        for label, value in printed("pitfalls", "source_is_target", "").items()
    }
    for name in "wrong", "right":
        assert shown[f"{name}, tokens right with the whole target"] > 90
    assert shown["a guess"] == 10 and shown["wrong, the next token right after five"] < 15
    assert shown["right, the next token right after five"] > 90


@claim("pitfalls-masks#source-is-target")
@mutation(
    "pitfalls/source_is_target.py",
    "return model(source, given)",
    "return model(given, source)",
    fault="the right call swaps source and target",
)
def test_with_the_target_as_source_every_output_sees_every_token():
    pitfall = load_pitfall("source_is_target")
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(11, 11, 32, 4, 1, 1, 64, dropout=0))
    source, given = torch.randint(1, 11, (2, 1, 8))
    changed = given.clone()
    changed[:, -1] = changed[:, -1] % 10 + 1
    for forward, leaks in (pitfall.wrong_forward, True), (pitfall.right_forward, False):
        before = forward(model, source, given)[:, :-1]
        moved = (before - forward(model, source, changed)[:, :-1]).abs().amax(dim=-1)
        assert bool(moved.gt(1e-6).all()) == bool(moved.any()) == leaks


# Axes


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
    infinite = torch.randn(2, 4, 5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf)
    assert pitfall.wrong_weights(infinite).isnan().any()
    assert not pitfall.right_weights(infinite).isnan().any()


@claim("pitfalls-masks#softmax-axis")
def test_a_softmax_over_the_heads_undoes_the_mask():
    wrong = load_pitfall("softmax_axis").wrong_weights
    hidden = ~causal_mask(5)[0, 0]
    for nhead in 1, 4:
        weights = wrong(torch.randn(2, nhead, 5, 5).masked_fill(hidden, -1e9))
        assert_near(weights[..., hidden], torch.full((2, nhead, 10), 1 / nhead))


@claim("pitfalls-masks#softmax-axis", kind="measurement")
def test_without_dim_torch_guesses_axis_1_for_four_axes_and_warns():
    scores = torch.randn(2, 4, 5, 5)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        guessed = F.softmax(scores)
    assert guessed.equal(load_pitfall("softmax_axis").wrong_weights(scores))
