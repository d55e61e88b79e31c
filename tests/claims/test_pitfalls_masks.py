"""Mistakes with masks, in layers and in training: each fails as described, its repair works."""

import math
import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import DOCS, load_pitfall, numbers
from marks import claim, mutation
from trainer import label_smoothed_cross_entropy, noam_learning_rate
from transformer import (
    EncoderLayer,
    LayerNorm,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    scaled_dot_product_attention,
)

CHAPTER = "pitfalls"
NAMES = [
    "inverted_mask",
    "mask_per_head",
    "half_precision",
    "finite_fill",
    "mask_after_softmax",
    "empty_row",
    "query_length",
    "source_is_target",
    "softmax_axis",
    "norm_overwrites",
    "unbiased_norm",
    "one_layer",
    "no_eval",
    "log_of_zero",
    "not_shifted",
    "pads_counted",
    "schedule_by_epoch",
    "mean_of_batches",
    "softmax_before_loss",
]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def pitfall_output(printed):
    """What a pitfall prints."""
    return lambda name: printed("pitfalls", name, "")


@pytest.fixture
def exercise_output(printed):
    """What an exercise of the chapter prints."""
    return lambda name: printed("exercises", name)


def assert_near(one, other, tolerance=1e-6):
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


# Masks and attention


@claim("pitfalls#inverted-mask")
@mutation(
    "pitfalls/inverted_mask.py",
    "query, key, value, hidden)",
    "query, key, value, ~hidden)",
    fault="the inverted mask is corrected",
)
def test_an_inverted_mask_has_the_right_shape_and_reads_nothing_but_the_future(pitfall_output):
    shown = pitfall_output("inverted_mask")
    for name in "wrong", "right":
        assert shown[f"{name}, shape as it should be"] == "True"
        assert shown[f"{name}, all finite"] == "True"
    assert shown["wrong, position 2 reads"] == "[3, 4]"
    assert shown["right, position 2 reads"] == "[0, 1, 2]"
    assert shown["wrong, the past stays when the future changes"] == "False"
    assert shown["right, the past stays when the future changes"] == "True"


@claim("pitfalls#inverted-mask")
@mutation(
    "pitfalls/inverted_mask.py",
    "query, key, value, ~hidden)",
    "query, key, value, hidden)",
    fault="the corrected mask is inverted again",
)
def test_with_the_mask_inverted_back_it_is_causal_attention():
    x = torch.randn(3, 2, 5, 8)
    expected, _ = scaled_dot_product_attention(x, x, x, causal_mask(5))
    assert_near(load_pitfall("inverted_mask").right_attention(x, x, x), expected)
    assert_near(F.scaled_dot_product_attention(x, x, x, is_causal=True), expected)


# No axis for the heads


@claim("pitfalls#mask-per-head")
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


@claim("pitfalls#mask-per-head")
@mutation(
    "pitfalls/mask_per_head.py",
    "mask = mask.unsqueeze(1)",
    "mask = mask.unsqueeze(0)",
    fault="the head axis is the first axis",
)
def test_masks_without_a_head_axis_fail_with_another_batch_size(pitfall_output):
    shown = pitfall_output("mask_per_head")
    assert shown["wrong, a batch of three"] == "RuntimeError"
    assert shown["right, a batch of three"] == "runs"
    share = numbers(shown["wrong, pads read by the heads of the shortest"])
    assert share == sorted(share, reverse=True) and share[0] > 50 and share[-1] == 0
    assert numbers(shown["right, pads read by the heads of the shortest"]) == [0] * 4


@claim("pitfalls#mask-per-head")
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


@claim("pitfalls#half-precision")
@mutation(
    "pitfalls/half_precision.py",
    "masked_fill(hidden, -1e9)",
    "masked_fill(hidden, 1e9)",
    fault="the fill lacks its minus sign",
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_minus_a_billion_works_in_wider_types(dtype):
    pitfall = load_pitfall("half_precision")
    scores, hidden = torch.randn(4, 6).to(dtype), torch.rand(4, 6) > 0.7
    expected = pitfall.right_weights(scores, hidden)
    assert pitfall.wrong_replaced(scores, hidden).equal(expected)
    assert pitfall.wrong_added(scores, hidden).equal(expected)


@claim("pitfalls#half-precision")
@mutation(
    "pitfalls/half_precision.py",
    "torch.tensor(-1e9).to(scores.dtype)",
    "torch.tensor(torch.finfo(scores.dtype).min)",
    fault="the lowest number of the dtype is added",
)
@mutation(
    "pitfalls/half_precision.py",
    "masked_fill(hidden, -1e9)",
    "masked_fill(hidden, -torch.inf)",
    fault="scores are filled with minus infinity, which fits",
)
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


@claim("pitfalls#leaking-fill")
@mutation(
    "pitfalls/finite_fill.py",
    "-1e4",
    "-torch.inf",
    fault="the finite fill is minus infinity",
)
def test_minus_ten_thousand_leaks_if_the_scores_are_as_large(pitfall_output):
    shown = pitfall_output("finite_fill")
    for factor in 1, 30, 100, 300:
        largest = float(shown[f"vectors times {factor}, largest score"])
        leaked = numbers(shown[f"wrong, vectors times {factor}, to the future"])[0]
        assert (leaked > 1) == (largest > 1e4)
        assert shown[f"right, vectors times {factor}, to the future"] == "0.0%"


@claim("pitfalls#leaking-fill")
@mutation(
    "pitfalls/finite_fill.py",
    "-1e4",
    "-1e9",
    fault="the fill is minus a billion instead of -1e4",
)
def test_with_minus_ten_thousand_the_future_gets_all_the_weight_if_other_scores_are_lower():
    pitfall = load_pitfall("finite_fill")
    query, key = torch.ones(1, 4), torch.full((2, 4), -1e4)
    mask = torch.tensor([[True, False]])
    assert pitfall.wrong_weights(query, key, mask).tolist() == [[0, 1]]
    assert pitfall.right_weights(query, key, mask).tolist() == [[1, 0]]


# Too late


@claim("pitfalls#after-softmax")
@mutation(
    "pitfalls/mask_after_softmax.py",
    "return scores.softmax(dim=-1) * mask",
    "return right_weights(scores, mask)",
    fault="the mask comes before the softmax",
)
def test_a_mask_after_the_softmax_loses_weight_and_leaks_the_future(pitfall_output):
    shown = pitfall_output("mask_after_softmax")
    assert shown["wrong, to the future"] == shown["right, to the future"] == "0.00"
    sums = numbers(shown["wrong, sum of each row"])
    assert max(sums[:-1]) < 0.9 and sums[-1] == 1
    assert numbers(shown["right, sum of each row"]) == [1] * 6
    assert float(shown["wrong, the past moves with the future by"]) > 0.1
    assert shown["right, the past moves with the future by"] == "0.00"


@claim("pitfalls#after-softmax")
@mutation(
    "pitfalls/mask_after_softmax.py",
    "scores.softmax(dim=-1) * mask",
    "(scores * mask).softmax(dim=-1)",
    fault="the scores are multiplied by the mask before the softmax",
)
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


@claim("pitfalls#after-softmax")
@mutation(
    "pitfalls/mask_after_softmax.py",
    "scores.softmax(dim=-1) * mask",
    "scores.clamp(-20, 20).softmax(dim=-1) * mask",
    fault="the scores are limited to 20 before the softmax",
)
def test_dividing_by_the_sum_fails_if_no_weight_is_left():
    wrong = load_pitfall("mask_after_softmax").wrong_weights
    left = wrong(torch.tensor([[0.0, 200.0]]), torch.tensor([[True, False]]))
    assert (left / left.sum()).isnan().any()


# Empty rows


@claim("pitfalls#empty-row")
@mutation(
    "pitfalls/empty_row.py",
    'float("-inf")',
    "-1e9",
    fault="an empty row is filled with a finite number",
)
def test_one_empty_sentence_ruins_the_whole_output_matrix(pitfall_output):
    shown = pitfall_output("empty_row")
    assert shown["wrong, loss"] == shown["right, loss"]
    assert shown["wrong, rows of the output matrix lost, of 8"] == "8"
    assert shown["wrong, rows of the vectors lost, of 8"] == "1"
    for table in "vectors", "output matrix":
        assert shown[f"right, rows of the {table} lost, of 8"] == "0"


@claim("pitfalls#empty-row")
@mutation(
    "pitfalls/empty_row.py",
    ".softmax(dim=-1) @ x",
    ".softmax(dim=-1).nan_to_num() @ x",
    fault="the NaN weights of the empty row are replaced with zeros",
)
def test_only_the_row_with_no_allowed_key_differs():
    pitfall = load_pitfall("empty_row")
    x, mask = torch.randn(2, 3, 4), torch.tensor([[1, 1, 0], [0, 0, 0]]).bool().unsqueeze(1)
    wrong, right = pitfall.wrong_attention(x, mask), pitfall.right_attention(x, mask)
    assert_near(wrong[0], right[0])
    assert wrong[1].isnan().all() and not right[1].any()


# Lengths


@claim("pitfalls#query-length")
@mutation(
    "pitfalls/query_length.py",
    "x.view(batch, n, nhead",
    "x.view(batch, x.size(1), nhead",
    fault="keys are split by their own length",
)
def test_keys_split_by_the_query_length_fail_unless_the_lengths_agree(pitfall_output):
    shown = pitfall_output("query_length")
    assert shown["wrong, 6 keys, equal"] == "True"
    assert "invalid" in shown["wrong, 9 keys for 6 queries"]
    assert shown["right, 9 keys for 6 queries"] == "(2, 6, 32)"
    pitfall = load_pitfall("query_length")
    query, shorter = torch.randn(2, 6, 32), torch.randn(2, 3, 32)
    with pytest.raises(RuntimeError):
        pitfall.wrong_attention(query, shorter, shorter, 4)


@claim("pitfalls#query-length")
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


@claim("pitfalls#source-is-target")
@mutation(
    "pitfalls/source_is_target.py",
    "return model(given, given)",
    "return model(source, given)",
    fault="the encoder gets the source",
)
def test_a_model_with_its_target_as_source_cannot_generate(pitfall_output):
    shown = {
        label: numbers(value)[0] for label, value in pitfall_output("source_is_target").items()
    }
    for name in "wrong", "right":
        assert shown[f"{name}, tokens right with the whole target"] > 90
    assert shown["a guess"] == 10 and shown["wrong, the next token right after five"] < 15
    assert shown["right, the next token right after five"] > 90


@claim("pitfalls#source-is-target")
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


@claim("pitfalls#softmax-axis")
@mutation(
    "pitfalls/softmax_axis.py",
    "softmax(dim=1)",
    "softmax(dim=-2)",
    fault="the softmax is over the queries for every shape",
)
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


@claim("pitfalls#softmax-axis")
@mutation(
    "pitfalls/softmax_axis.py",
    "softmax(dim=1)",
    "softmax(dim=-1)",
    fault="the softmax runs over the last axis",
)
def test_a_softmax_over_the_heads_undoes_the_mask(pitfall_output):
    wrong = load_pitfall("softmax_axis").wrong_weights
    hidden = ~causal_mask(5)[0, 0]
    for nhead in 1, 4:
        weights = wrong(torch.randn(2, nhead, 5, 5).masked_fill(hidden, -1e9))
        assert_near(weights[..., hidden], torch.full((2, nhead, 10), 1 / nhead))
    shown = pitfall_output("softmax_axis")
    assert shown["wrong, (batch, head, n, m), to the future"] == f"{10 / 4:.2f}"
    assert shown["wrong, (batch, n, m), to the future"] == "0.00"
    for shape in "(n, m)", "(batch, n, m)", "(batch, head, n, m)":
        assert shown[f"right, {shape}, to the future"] == "0.00"


@claim("pitfalls#softmax-axis", kind="measurement")
def test_without_dim_torch_guesses_axis_1_for_four_axes_and_warns():
    scores = torch.randn(2, 4, 5, 5)
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        guessed = F.softmax(scores)
    assert guessed.equal(load_pitfall("softmax_axis").wrong_weights(scores))


# Layers


@claim("pitfalls#norm-overwrites")
@mutation(
    "pitfalls/norm_overwrites.py",
    "    x = norm(x)\n    x = x + sublayer(x)",
    "    y = norm(x)\n    x = x + sublayer(y)",
    fault="the norm gets its own name",
)
def test_a_norm_that_overwrites_its_input_makes_pre_norm_post_norm(pitfall_output):
    shown = pitfall_output("norm_overwrites")
    assert shown["wrong is post-norm"] == "True"
    length = float(shown["length of a token at the input"])
    assert float(shown["right, length of a token"]) > length
    assert float(shown["wrong, length of a token"]) < length / 5
    assert float(shown["right, cosine of input and output"]) > 0.95
    assert float(shown["wrong, cosine of input and output"]) < 0.9
    pitfall = load_pitfall("norm_overwrites")
    for size in 0.1, 1, 100:
        wrong = size * torch.randn(2, 5, 32)
        for norm, sublayer in zip(pitfall.norms, pitfall.sublayers, strict=True):
            wrong = pitfall.wrong_block(wrong, norm, sublayer)
        assert abs(wrong.norm(dim=-1).mean() / 32**0.5 - 1) < 0.1


@claim("pitfalls#norm-overwrites")
@mutation(
    "pitfalls/norm_overwrites.py",
    "return x + sublayer(norm(x))",
    "return norm(x) + sublayer(norm(x))",
    fault="the right block adds its normalized input",
)
def test_only_the_block_that_keeps_its_input_is_pre_norm():
    pitfall = load_pitfall("norm_overwrites")
    config = TransformerConfig(9, 12, 32, 4, dropout=0.0, norm_first=True)
    layer, x = EncoderLayer(config), 10 * torch.randn(2, 5, 32)
    after_attention = pitfall.right_block(x, layer.norm1, lambda y: layer.attend(y, None))
    right = pitfall.right_block(after_attention, layer.norm2, layer.feed_forward)
    assert_near(right, layer(x))
    assert_near(pitfall.right_block(x, layer.norm1, torch.zeros_like), x)
    wrong = pitfall.wrong_block(x, layer.norm1, torch.zeros_like)
    assert_near(wrong, layer.norm1(x))


# Deviations


@claim("pitfalls#unbiased-norm")
@mutation(
    "pitfalls/unbiased_norm.py",
    "x.std(dim=-1, keepdim=True)",
    "x.std(dim=-1, correction=0, keepdim=True)",
    fault="the deviation is the biased one",
)
@pytest.mark.parametrize("d", [4, 64, 512])
def test_the_unbiased_deviation_shrinks_by_the_root_of_d_minus_1_over_d(d):
    pitfall = load_pitfall("unbiased_norm")
    x = torch.randn(20, d, dtype=torch.float64)
    expected = F.layer_norm(x, (d,), eps=1e-6)
    assert_near(pitfall.right_norm(x), expected)
    assert_near(pitfall.wrong_norm(x) / expected, torch.full_like(x, math.sqrt((d - 1) / d)), 1e-5)


@claim("pitfalls#unbiased-norm")
@mutation(
    "pitfalls/unbiased_norm.py",
    "(x.std(dim=-1, keepdim=True) + eps)",
    "(x.var(dim=-1, keepdim=True) + eps)",
    fault="the wrong norm divides by the variance",
)
def test_a_loose_tolerance_does_not_detect_the_unbiased_norm(pitfall_output):
    shown = pitfall_output("unbiased_norm")
    for d in 4, 512:
        assert shown[f"wrong, d = {d}, equal within 0.01"] == str(d > 4)
        assert shown[f"wrong, d = {d}, equal within 1e-05"] == "False"
        assert shown[f"right, d = {d}, equal within 1e-05"] == "True"


@claim("pitfalls#unbiased-norm")
@mutation(
    "pitfalls/unbiased_norm.py",
    "(variance + eps).sqrt()",
    "(variance.sqrt() + eps)",
    fault="eps is added to the deviation in both norms",
)
def test_with_eps_outside_the_root_a_small_vector_becomes_large():
    pitfall = load_pitfall("unbiased_norm")
    x = 1e-4 * torch.randn(10, 512, dtype=torch.float64)
    assert_near(pitfall.right_norm(x), LayerNorm(512, eps=1e-6).double()(x))
    assert pitfall.right_norm(x).std() < 0.2 and pitfall.wrong_norm(x).std() > 0.9


# One layer


@claim("pitfalls#one-layer")
@mutation(
    "pitfalls/one_layer.py",
    "p.numel() for p in stack.parameters()",
    "p.numel() for p in stack.state_dict().values()",
    fault="the parameters of the shared layer are counted six times",
)
def test_one_layer_in_six_places_has_six_names_and_a_sixth_of_the_parameters(pitfall_output):
    shown = pitfall_output("one_layer")
    label = "names in the state_dict"
    assert shown[f"wrong, {label}"] == shown[f"right, {label}"]
    assert int(shown["right, parameters"]) == 6 * int(shown["wrong, parameters"])


@claim("pitfalls#one-layer")
@mutation(
    "pitfalls/one_layer.py",
    "[EncoderLayer(config)] * 6",
    "EncoderLayer(config) for _ in range(6)",
    fault="six layers instead of one layer repeated six times",
)
def test_one_layer_in_six_places_loads_a_checkpoint_and_keeps_its_last_layer(pitfall_output):
    shown = pitfall_output("one_layer")
    for name in "wrong", "right":
        assert "matched" in shown[f"{name}, loading the checkpoint says"]
    assert shown["wrong, layers as in the checkpoint"] == "[5]"
    assert shown["right, layers as in the checkpoint"] == "[0, 1, 2, 3, 4, 5]"


# Dropout


@claim("pitfalls#no-eval")
@mutation(
    "pitfalls/no_eval.py",
    "def wrong_write(model):",
    "def wrong_write(model):\n    model.eval()",
    fault="dropout is turned off before writing",
)
def test_with_dropout_on_a_model_that_has_learned_its_sentences_makes_mistakes(pitfall_output):
    shown = pitfall_output("no_eval")
    right = {}
    for dropout in "0.1", "0.3":
        wrong = f"wrong, dropout {dropout}"
        right[dropout] = numbers(shown[f"{wrong}, both sentences without a fault"])[0]
        assert int(shown[f"{wrong}, answers in 50 runs"]) > 1
        assert shown[f"right, dropout {dropout}, both sentences without a fault"] == "100%"
        assert shown[f"right, dropout {dropout}, answers in 50 runs"] == "1"
    assert right["0.3"] < 60 < right["0.1"] < 100


# Training


@claim("pitfalls#log-of-zero")
@mutation(
    "pitfalls/log_of_zero.py",
    "q * (q.log() - p.log())",
    "torch.xlogy(q, q) - q * p.log()",
    fault="0 log 0 is 0",
)
def test_the_logarithm_of_a_zero_in_the_target_is_a_nan_in_the_loss():
    pitfall = load_pitfall("log_of_zero")
    logits, target = torch.randn(3, 6), torch.tensor([1, 4, 5])
    assert pitfall.wrong_loss(logits, target).isnan()
    q = pitfall.smoothed(target, 6)
    assert_near(q.sum(dim=-1), torch.ones(3))
    expected = F.kl_div(logits.log_softmax(dim=-1), q, reduction="batchmean")
    assert_near(pitfall.right_loss(logits, target), expected)


@claim("pitfalls#log-of-zero")
@mutation(
    "pitfalls/log_of_zero.py",
    "p.log())).sum",
    "logits.log_softmax(dim=-1))).sum",
    fault="the logarithm is taken by log_softmax",
)
def test_the_gradient_is_nan_only_when_a_probability_is_zero_too(pitfall_output):
    shown = pitfall_output("log_of_zero")
    assert shown["wrong, gap 5, loss"] == shown["wrong, gap 200, loss"] == "nan"
    assert shown["wrong, gap 5, gradient"] == shown["right, gap 5, gradient"]
    assert shown["wrong, gap 200, gradient"] == "nan nan nan nan nan"
    assert "nan" not in shown["right, gap 200, gradient"] + shown["right, gap 200, loss"]
    assert shown["gap 200, probability of <pad>"] == "0"


@claim("pitfalls#log-of-zero")
@mutation(
    "pitfalls/log_of_zero.py",
    "    q[:, 0] = 0\n",
    "",
    fault="the target gives <pad> its share of the smoothing",
)
def test_the_gradient_that_pushes_the_padding_down_is_its_probability(pitfall_output):
    pitfall = load_pitfall("log_of_zero")
    for gap in 1, 5, 20, 60:
        logits = torch.tensor([[-gap, 0, 0, 2, 0]], dtype=torch.float64, requires_grad=True)
        loss = pitfall.right_loss(logits, torch.tensor([3]))
        (gradient,) = torch.autograd.grad(loss, logits)
        assert gradient[0, 0].item() == pytest.approx(logits.softmax(dim=-1)[0, 0].item())
    shown = pitfall_output("log_of_zero")
    for name, smallest in ("float32", 2.0**-149), ("float16", 2.0**-24):
        gap = int(shown[f"{name}, first gap with probability 0"])
        first, before = (1 / (1 + (math.e**2 + 3) * math.exp(each)) for each in (gap, gap - 1))
        assert first <= smallest / 2 < before  # half of the smallest is rounded to 0


@claim("pitfalls#log-of-zero")
def test_our_smoothed_loss_is_finite_for_any_unlikely_token():
    logits = torch.tensor([[-200.0, 0, 0, 2, 0]], requires_grad=True)
    loss = label_smoothed_cross_entropy(logits, torch.tensor([3]), 0.1, 0)
    assert loss.isfinite() and torch.autograd.grad(loss, logits)[0].isfinite().all()


# The shift


@claim("pitfalls#not-shifted", kind="measurement")
def test_without_a_shift_the_answer_is_in_the_input_although_no_later_token_gets_in():
    given, expected = load_pitfall("not_shifted").wrong_pair(torch.arange(6)[None])
    assert torch.equal(given, expected)
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
    embedding, hidden = nn.Embedding(10, 16), ~causal_mask(6)[0, 0]
    changed = given.clone()
    changed[0, -1] = 9
    before, after = (layer(embedding(ids), src_mask=hidden) for ids in (given, changed))
    assert torch.equal(before[:, :-1], after[:, :-1])  # the quiz's first test passes


@claim("pitfalls#not-shifted", kind="measurement")
def test_on_random_tokens_the_loss_falls_to_zero_only_without_a_shift():
    pitfall = load_pitfall("not_shifted")
    losses = {}
    for pair in pitfall.wrong_pair, pitfall.right_pair:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(10, 16), nn.Linear(16, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(100):
            given, expected = pair(torch.randint(10, (32, 6)))
            loss = F.cross_entropy(model(given).flatten(0, 1), expected.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses[pair.__name__] = loss.item()
    assert losses["wrong_pair"] < 0.01
    assert losses["right_pair"] > 0.95 * math.log(10)


@claim("pitfalls#not-shifted")
@mutation(
    "pitfalls/not_shifted.py",
    "return ids, ids",
    "return ids[:, :-1], ids[:, 1:]",
    fault="the target is shifted",
)
@mutation(
    "pitfalls/not_shifted.py",
    "return ids[:, :-2], ids[:, 2:]",
    "return ids[:, :-1], ids[:, 1:]",
    fault="the target is shifted once and not twice",
)
def test_each_shift_is_learned_and_only_one_of_them_is_useful(pitfall_output):
    shown = pitfall_output("not_shifted")
    for pair in "wrong_pair", "wrong_twice", "right_pair":
        assert float(shown[f"{pair}, loss"]) < 0.01
    assert shown["wrong_pair, writes"] == "3 3 3 3 3 3"
    assert shown["wrong_twice, writes"] == "3 5 7 9 1 3"
    assert shown["right_pair, writes"] == "3 4 5 6 7 8"


# Pads


@claim("pitfalls#pads-counted")
@mutation(
    "pitfalls/pads_counted.py",
    "logits.transpose(1, 2), answers)",
    "logits.transpose(1, 2), answers, ignore_index=0)",
    fault="the padding is omitted from the loss",
)
def test_the_more_padding_is_in_the_loss_the_smaller_it_is(pitfall_output):
    shown = pitfall_output("pads_counted")
    wrong = [float(shown[f"wrong, {pads} pads, loss"]) for pads in (0, 5, 45)]
    right = [shown[f"right, {pads} pads, loss"] for pads in (0, 5, 45)]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[2] < wrong[0] / 9 and len({*right, shown["wrong, 0 pads, loss"]}) == 1
    assert shown["45 pads, tokens right with pads"] == "90%"


@claim("pitfalls#pads-counted")
@mutation(
    "pitfalls/pads_counted.py",
    "logits.transpose(1, 2), answers, ignore_index=0)",
    'logits.transpose(1, 2), answers, ignore_index=0, reduction="sum") / answers.numel()',
    fault="the loss omits the pads but divides by all targets",
)
def test_omitting_the_padding_gives_the_mean_over_real_targets():
    pitfall = load_pitfall("pads_counted")
    logits, answers = torch.randn(2, 5, 12), torch.tensor([[3, 4, 5, 2, 0], [7, 2, 0, 0, 0]])
    real = answers != 0
    assert_near(pitfall.right_loss(logits, answers), F.cross_entropy(logits[real], answers[real]))
    assert not torch.isclose(
        pitfall.wrong_loss(logits, answers), pitfall.right_loss(logits, answers)
    )


# The schedule


@claim("pitfalls#schedule-by-epoch")
@mutation(
    "pitfalls/schedule_by_epoch.py",
    '("wrong", True)',
    '("wrong", False)',
    fault="the schedule steps after every batch",
)
def test_a_warm_up_stepped_per_epoch_never_warms_up(pitfall_output):
    shown = pitfall_output("schedule_by_epoch")
    assert float(shown["right, loss after 400 steps"]) < 0.5
    assert float(shown["wrong, loss after 400 steps"]) > 1.5  # a blind guess: 2.08
    assert shown["wrong, rate by then"] == f"{noam_learning_rate(5, 512, 100):.5f}"
    assert shown["right, rate by then"] == f"{noam_learning_rate(401, 512, 100):.5f}"


# Means


@claim("pitfalls#mean-of-batches")
@mutation(
    "pitfalls/mean_of_batches.py",
    "return sum(means) / len(means)",
    "return losses.mean()",
    fault="each batch is weighted by its size",
)
def test_a_mean_of_batch_means_depends_on_the_batch_size(pitfall_output):
    shown = pitfall_output("mean_of_batches")
    wrong = {shown[f"wrong, batches of {size}"] for size in (1001, 500, 100, 10)}
    right = {shown[f"right, batches of {size}"] for size in (1001, 500, 100, 10)}
    assert len(wrong) == 4 and len(right) == 1
    assert shown["wrong, batches of 1001"] == shown["right, batches of 1001"]


@claim("pitfalls#mean-of-batches")
@mutation(
    "pitfalls/mean_of_batches.py",
    "return sum(means) / len(means)",
    "return sum(means) / len(losses)",
    fault="the sum of the means is divided by the number of losses",
)
def test_a_mean_of_batch_means_is_right_if_all_batches_are_equal():
    pitfall, losses = load_pitfall("mean_of_batches"), torch.rand(12)
    for size in 1, 3, 4, 12:
        assert_near(pitfall.wrong_validation(losses, size), losses.mean())
    for size in 5, 7:
        assert not torch.isclose(pitfall.wrong_validation(losses, size), losses.mean())
        assert_near(pitfall.right_validation(losses, size), losses.mean())


# Two softmaxes


@claim("pitfalls#softmax-before-loss")
@mutation(
    "pitfalls/softmax_before_loss.py",
    "cross_entropy(logits.softmax(dim=-1), target)",
    "cross_entropy(logits, target)",
    fault="the loss gets logits",
)
def test_after_a_second_softmax_a_confident_wrong_model_learns_nothing(pitfall_output):
    shown = pitfall_output("softmax_before_loss")
    assert 0 < float(shown["wrong, sure and wrong, push upwards"]) < 0.001
    assert float(shown["right, sure and wrong, push upwards"]) > 0.99
    floor = math.log(math.e + 3) - 1
    assert shown["wrong, sure and right, loss"] == f"{floor:.2f}"
    assert shown["right, sure and right, loss"] == "0.00"
    middle = [float(shown[f"{name}, undecided, push upwards"]) for name in ("wrong", "right")]
    assert middle == [0.1875, 0.75]


# The tests that the pages name


@claim("pitfalls#how", kind="measurement")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_of_these_mistakes_in_our_code_is_caught_by_a_test_named_beside_it(language):
    """Every section names at least one test, and each test that it names has a mutation."""
    from bookbuild.generated import claims  # here, since a mutated copy does without bookbuild

    page = (DOCS / language / "pitfalls.md").read_text(encoding="utf-8")
    tested = {each.test.partition("::")[2] for each in claims.all_claims() if each.mutations}
    for name in NAMES:
        section = page.partition(f'"pitfalls/{name}.py"')[2].partition("\n##")[0]
        named = re.findall(r"`(test_\w+)`", section)
        assert named and tested.issuperset(named), name


# Exercises


@claim("pitfalls#exercises")
@mutation(
    "exercises/pitfalls/suspects.py",
    "x.shape[1:]",
    "x.shape[2:]",
    fault="the suspected norm is over each token",
)
def test_the_norm_over_the_sentence_is_the_leak_and_the_other_two_suspects_are_not(exercise_output):
    moved = numbers(exercise_output("suspects")["each position moves by"])
    assert min(moved) > 0.1
    shown = exercise_output("guilty")
    assert float(shown["norm over the sentence, the past moves by"]) > 0.1
    assert float(shown["norm over each token, the past moves by"]) == 0
    assert float(shown["the other two, off from the usual way by"]) == 0
    assert "nan" in shown["with such scores"]
