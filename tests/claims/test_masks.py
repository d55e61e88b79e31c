"""The claims of the chapter on masks."""

import math
import re
import warnings
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from comparisons import compare_changed_token, compare_padding
from helpers import DOCS, DTYPES, few, numbers, seeds
from marks import claim, mutation
from transformer import (
    Encoder,
    MultiHeadAttention,
    TokenEmbedding,
    Transformer,
    TransformerConfig,
    causal_mask,
    fused_attention,
    padding_mask,
    scaled_dot_product_attention,
)

CHAPTER = "masks"
HALVES = [torch.float16, torch.bfloat16]
PATHS = [scaled_dot_product_attention, fused_attention]
sizes = st.integers(1, 6)


@pytest.fixture(params=PATHS, ids=lambda path: path.__name__)
def attend(request):
    return request.param


def small_config(**options) -> TransformerConfig:
    return TransformerConfig(9, 12, 16, 4, 2, 2, 32, dropout=0.0, **options)


def small_model(dtype=torch.float64, **options) -> Transformer:
    torch.manual_seed(0)
    return Transformer(small_config(**options)).to(dtype)


def parts(*shape, dtype=torch.float64, seed=0):
    """Query, key and value, all of this shape."""
    torch.manual_seed(seed)
    return torch.randn(3, *shape, dtype=dtype).unbind()


def close(one, other, tolerance=1e-6):
    torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


# Zero vectors


@claim("masks#zero-vectors")
@mutation(
    "examples/masks/zero_vectors.py",
    "key[:, :2] = torch.randn(10_000, 2, 64)",
    "key[:] = torch.randn(10_000, 5, 64)",
    fault="the pads of the example are random vectors, like the tokens",
)
def test_three_zero_pads_take_about_half_of_the_attention_of_two_tokens(printed):
    shown = printed("examples", "zero_vectors")
    assert shown["by hand, scores 1 and -1"] == "49.3%"
    (mean,) = numbers(shown["10000 random queries, mean share"])
    assert 53 < mean < 56
    assert shown["with a mask"] == "0.0%"


@claim("masks#zero-vectors", kind="mathematics")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_numbers_computed_by_hand_on_the_page_match_the_formula(language):
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    up, down = math.exp(1), math.exp(-1)
    share = rf"\frac{{1 + 1 + 1}}{{{up:.3f} + {down:.3f} + 1 + 1 + 1}} \approx"
    assert rf"{share} {300 / (up + down + 3):.0f}\,\%" in page
    two, one = math.exp(2), math.exp(1)
    assert f"$e^2 \\approx {two:.3f}$" in page and f"$e^1 \\approx {one:.3f}$" in page
    assert f"{two:.3f} / {two + one:.3f} ≈ {two / (two + one):.3f}" in page


@claim("masks#zero-vectors")
@mutation(
    "transformer.py",
    "weights = scores.softmax(dim=-1)",
    "weights = scores.masked_fill(scores == 0, -torch.inf).softmax(dim=-1)",
    fault="a key with score zero gets no weight",
)
def test_a_zero_key_has_score_zero_and_the_weight_of_any_zero_score():
    query, key, value = parts(4, 8)
    key[2:] = 0
    _, weights = scaled_dot_product_attention(query, key, value)
    exponentials = (query @ key.T / 8**0.5).exp()
    assert exponentials[:, 2:].eq(1).all()
    close(weights[:, 2], 1 / exponentials.sum(dim=-1))


@claim("masks#zero-vectors")
@mutation(
    "transformer.py",
    "    return F.dropout(weights, dropout) @ value, weights",
    "    real = weights * value.any(dim=-1).unsqueeze(-2)\n"
    "    return real @ value / real.sum(dim=-1, keepdim=True), weights",
    fault="the mean is taken over the values that are not zero",
)
def test_the_output_shrinks_by_the_fraction_of_weight_on_the_zero_pads():
    query, key, value = parts(5, 8)
    key[2:] = value[2:] = 0
    with_pads, weights = scaled_dot_product_attention(query, key, value)
    alone, _ = scaled_dot_product_attention(query, key[:2], value[:2])
    close(with_pads, alone * weights[:, :2].sum(dim=-1, keepdim=True))


@claim("masks#zero-vectors")
@mutation(
    "transformer.py",
    "x + self.table[:length]",
    "x + self.table[:length] * x.any(dim=-1, keepdim=True)",
    fault="zero vectors get no position",
)
def test_a_pad_does_not_stay_a_zero_vector():
    model = small_model()
    ids = torch.tensor([[6, 7, 0, 0]])
    embedded = model.src_embedding(ids)
    assert not embedded[0, 2:].any()
    placed = model.position(embedded)
    assert placed[0, 2:].norm(dim=-1).min() > 1
    assert model.encode(ids)[0, 2:].norm(dim=-1).min() > 1
    layer = MultiHeadAttention(16, 4).key
    assert layer(torch.zeros(16)).any()  # its bias


# One convention


@claim("masks#convention")
@mutation(
    "transformer.py",
    "check_mask(mask, scores.shape)",
    "check_mask(mask, scores.shape)\n        mask = ~mask",
    fault='True means "may not attend" in explicit attention',
)
@few
@given(seed=seeds, n=sizes, m=sizes)
def test_the_weights_follow_the_formula_where_true_means_may_attend(seed, n, m):
    torch.manual_seed(seed)
    query, key = torch.randn(n, 4).double(), torch.randn(m, 4).double()
    mask = torch.rand(n, m) > 0.4
    mask[:, 0] = True
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    kept = (query @ key.T / 2).exp() * mask
    close(weights, kept / kept.sum(dim=-1, keepdim=True), 1e-12)


@claim("masks#convention")
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = torch.atleast_2d(mask).to(query.dtype)",
    fault="the fused path adds its mask to the scores as 0 and 1",
)
@few
@given(seed=seeds, kept=sizes, masked=sizes)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("attend", PATHS, ids=lambda path: path.__name__)
def test_a_masked_key_is_equivalent_to_an_absent_key(attend, dtype, seed, kept, masked):
    query, key, value = parts(2, 3, kept + masked, 4, dtype=dtype, seed=seed)
    mask = torch.arange(kept + masked) < kept
    output, _ = attend(query, key, value, mask[None, None, None])
    absent, _ = attend(query, key[..., :kept, :], value[..., :kept, :])
    close(output, absent)


@claim("masks#convention")
@mutation(
    "examples/masks/by_hand.py",
    "[[True, True, False]]",
    "[[True, False, True]]",
    fault="the example forbids the second key instead of the third",
)
def test_computed_by_hand_the_third_key_gets_no_weight(printed):
    shown = printed("examples", "by_hand")
    assert (
        shown["third key forbidden"].split("->")[1] == shown["third key not there"].split("->")[1]
    )
    assert numbers(shown["third key forbidden"]) == [0.731, 0.269, 0, 12.69]


@claim("masks#convention")
@mutation(
    "transformer.py",
    "if mask.dtype != torch.bool",
    "if mask.dtype == torch.float16",
    fault="a mask that is not boolean is accepted",
)
@pytest.mark.parametrize("mask", [torch.ones(1, 1, 2, 2), torch.ones(2, 2).long()], ids=str)
def test_a_mask_that_is_not_boolean_is_rejected(attend, mask):
    query, key, value = parts(1, 1, 2, 4)
    message = f"masks are boolean, True may attend: {mask.dtype}"
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(query, key, value, mask)


@claim("masks#convention")
@mutation(
    "transformer.py",
    "if mask.dim() > len(shape) or any(a not in (1, b) for a, b in pairs):",
    "if any(a not in (1, b) for a, b in list(pairs)[:1]):",
    fault="only the last axis of a mask is checked",
)
@pytest.mark.parametrize("shape", [(1, 1, 1, 3), (3, 1, 1, 2), (1, 1, 1, 1, 2), (4, 1, 2)], ids=str)
def test_a_mask_that_does_not_broadcast_is_rejected(attend, shape):
    query, key, value = parts(1, 1, 2, 4)
    message = f"the mask does not broadcast: {shape} to (1, 1, 2, 2)"
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(query, key, value, torch.ones(shape, dtype=torch.bool))


@claim("masks#convention")
@mutation(
    "transformer.py",
    "F.dropout(weights, dropout) @ value, weights",
    "F.dropout(weights, dropout) @ value.nan_to_num(), weights",
    fault="values that are not finite are replaced before they are averaged",
)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")], ids=str)
def test_a_mask_cannot_hide_a_non_finite_value(bad):
    query, key, value = parts(2, 4)
    value[1] = bad
    mask = torch.tensor([[True, False], [True, False]])
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    assert output.isnan().all()


# The padding mask


@claim("masks#padding-mask")
@mutation(
    "transformer.py",
    "return (ids != pad_id)[:, None, None, :]",
    "return (ids == pad_id)[:, None, None, :]",
    fault="the padding mask is inverted",
)
@few
@given(seed=seeds, b=sizes, n=sizes, pad=st.integers(0, 4))
def test_the_padding_mask_is_true_where_the_key_is_a_real_token(seed, b, n, pad):
    torch.manual_seed(seed)
    ids = torch.randint(5, (b, n))
    mask = padding_mask(ids, pad)
    assert mask.shape == (b, 1, 1, n) and mask.dtype == torch.bool
    for sentence in range(b):
        for key in range(n):
            assert mask[sentence, 0, 0, key].item() == (ids[sentence, key].item() != pad)


@claim("masks#padding-mask")
@mutation(
    "transformer.py",
    "def padding_mask(ids: Tensor, pad_id: int = 0)",
    "def padding_mask(ids: Tensor, pad_id: int = 1)",
    fault="the padding mask has another default id",
)
def test_the_pad_id_is_0_by_default():
    ids = torch.tensor([[3, 0, 1]])
    assert padding_mask(ids).flatten().tolist() == [True, False, True]
    assert padding_mask(ids, pad_id=1).flatten().tolist() == [True, True, False]


@claim("masks#padding-mask")
@mutation(
    "examples/masks/padding.py",
    "[6, 7, 0, 0, 0]",
    "[0, 0, 0, 6, 7]",
    fault="the running example has its padding on the left",
)
def test_the_padding_mask_of_the_running_example(printed):
    shown = printed("examples", "padding")
    assert shown["shape"] == "(2, 1, 1, 5)"
    assert shown["row of the first sentence"] == "[1, 1, 1, 1, 1]"
    assert shown["row of the second sentence"] == "[1, 1, 0, 0, 0]"


@claim("masks#padding-mask")
@mutation(
    "transformer.py",
    "(ids != pad_id)[:, None, None, :]",
    "(ids != pad_id)[:, None, :, None]",
    fault="the padding mask forbids rows instead of columns",
)
def test_the_padding_mask_forbids_columns_and_leaves_the_rows_of_pads_unchanged():
    mask = padding_mask(torch.tensor([[6, 7, 0]])).expand(1, 1, 3, 3)[0, 0]
    assert mask.any(dim=0).tolist() == [True, True, False]
    assert mask.any(dim=1).all()


@claim("masks#padding-mask")
@mutation(
    "transformer.py",
    "return self.encoder(x, padding_mask(src, self.config.pad_id))",
    "return self.encoder(x, padding_mask(src))",
    fault="the encoder ignores the padding id of the configuration",
)
def test_the_model_masks_with_the_pad_id_of_its_configuration():
    model = small_model(pad_id=3)
    ids = torch.tensor([[6, 7]])
    close(model.encode(F.pad(ids, (0, 4), value=3))[:, :2], model.encode(ids))
    assert (model.encode(F.pad(ids, (0, 4), value=0))[:, :2] - model.encode(ids)).abs().max() > 0.1


# More padding, same result


@claim("masks#padding-invariance")
@mutation(
    "transformer.py",
    "return (ids != pad_id)[:, None, None, :]",
    "return (ids != pad_id)[:, None, :].expand(-1, ids.size(1), -1)",
    fault="the padding mask has no head axis",
)
@few
@given(seed=seeds, b=st.integers(1, 3), n=sizes, pads=sizes)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_more_padding_on_the_right_changes_no_real_position_of_the_encoder(dtype, seed, b, n, pads):
    model = small_model(dtype)
    torch.manual_seed(seed)
    ids = torch.randint(1, 9, (b, n))
    padded = F.pad(ids, (0, pads))
    close(model.encode(padded)[:, :n], model.encode(ids), 1e-5 if dtype == torch.float32 else 1e-12)


@claim("masks#padding-invariance")
@mutation(
    "transformer.py",
    "return self.logits(self.decode(tgt, memory, memory_mask))",
    "return self.logits(self.decode(tgt, memory))",
    fault="the decoder sees the padding of the source",
)
@few
@given(seed=seeds, src_pads=sizes, tgt_pads=sizes, norm_first=st.booleans())
def test_more_padding_in_source_or_target_changes_no_logit_of_a_real_token(
    seed, src_pads, tgt_pads, norm_first
):
    model = small_model(norm_first=norm_first)
    torch.manual_seed(seed)
    src, tgt = torch.randint(1, 9, (2, 4)), torch.randint(1, 12, (2, 3))
    compare_padding(model, src, tgt, (src_pads, tgt_pads))


@claim("masks#padding-invariance")
@mutation(
    "transformer.py",
    "x = self.position(self.src_embedding(src))",
    "x = self.position(self.src_embedding(src))\n"
    "        x.register_hook(lambda gradient: gradient / src.size(1))",
    fault="the gradient of the source is divided by its padded length",
)
def test_more_padding_changes_no_gradient():
    src, tgt = torch.tensor([[6, 7]]), torch.tensor([[1, 4, 5]])
    gradients = []
    for pads in 0, 5:
        model = small_model()
        model(F.pad(src, (0, pads)), F.pad(tgt, (0, pads)))[:, :3].square().sum().backward()
        gradients.append([p.grad for p in model.parameters()])
    for one, other in zip(*gradients, strict=True):
        close(one, other, 1e-10)


@claim("masks#padding-invariance")
@mutation(
    "examples/masks/padding_invariance.py",
    '("no mask", None)',
    '("no mask", padding_mask(padded))',
    fault="the encoding without a mask has one",
)
def test_without_a_mask_the_result_depends_on_the_number_of_pads(printed):
    shown = printed("examples", "padding_invariance")
    for pads in 1, 3, 10:
        assert float(shown[f"pads {pads}, mask"]) == 0
    moved = [float(shown[f"pads {pads}, no mask"]) for pads in (1, 3, 10)]
    assert moved == sorted(moved) and moved[0] > 1


# The causal mask


@claim("masks#causal-mask")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.tril(1)",
    fault="the causal mask lets each token see the next one",
)
@few
@given(size=st.integers(1, 12))
def test_the_causal_mask_is_true_where_the_key_is_not_after_the_query(size):
    mask = causal_mask(size)
    assert mask.shape == (1, 1, size, size) and mask.dtype == torch.bool
    for query in range(size):
        for key in range(size):
            assert mask[0, 0, query, key].item() == (key <= query)


@claim("masks#causal-mask")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.tril(-1)",
    fault="the causal mask omits its diagonal",
)
def test_the_causal_mask_has_no_empty_row_thanks_to_its_diagonal():
    assert causal_mask(5).any(dim=-1).all()
    assert not causal_mask(5).tril(-1).any(dim=-1).all()


@claim("masks#causal-mask")
@mutation(
    "transformer.py",
    "torch.ones(1, 1, size, size, dtype=torch.bool, device=device)",
    "torch.ones(1, 1, size, size, dtype=torch.bool)",
    fault="the causal mask ignores the device",
)
def test_the_causal_mask_is_created_on_the_requested_device():
    assert causal_mask(3, torch.device("meta")).device.type == "meta"
    assert causal_mask(3).device.type == "cpu"


@claim("masks#causal-mask")
@mutation(
    "examples/masks/peeking.py",
    '("in use", mask & causal)',
    '("in use", mask)',
    fault="the example lets the model see the future at inference, too",
)
def test_a_model_that_sees_the_future_is_correct_in_training_and_guesses_at_inference(printed):
    shown = printed("examples", "peeking")
    assert shown["causal mask, in training"] == shown["causal mask, in use"] == "0.1"
    for mask in "no mask", "inverted mask":
        assert shown[f"{mask}, in training"] == "0.9"  # 6 of 7, and a guess
        assert shown[f"{mask}, in use"] == "0.1"


# The future changes nothing


@claim("masks#causality")
@mutation(
    "transformer.py",
    "self.linear1(x).relu()",
    "self.linear1(x - x.mean(dim=1, keepdim=True)).relu()",
    fault="the feed-forward network subtracts the mean of all positions",
)
@few
@given(seed=seeds, n=st.integers(2, 7), data=st.data())
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_changed_token_does_not_change_a_single_bit_of_earlier_outputs(dtype, seed, n, data):
    model = small_model(dtype)
    torch.manual_seed(seed)
    src, tgt = torch.randint(1, 9, (2, 4)), torch.randint(1, 12, (2, n))
    place = data.draw(st.integers(1, n - 1))
    compare_changed_token(model, src, tgt, place)


@claim("masks#causality")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.triu()",
    fault="the causal mask is inverted",
)
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = ~torch.atleast_2d(mask)",
    fault="fused attention inverts the mask",
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_the_future_does_not_change_a_single_bit_on_either_path(dtype, need_weights):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).to(dtype)
    x = torch.randn(2, 6, 16, dtype=dtype)
    for place in range(1, 6):
        y = x.clone()
        y[:, place:] += 1
        before, after = (attention(z, z, z, causal_mask(6), need_weights)[0] for z in (x, y))
        assert torch.equal(before[:, :place], after[:, :place])


@claim("masks#causality")
@mutation(
    "transformer.py",
    "weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)\n"
    "        weights = weights.masked_fill(~mask, 0.0)",
    "weights = (scores - 20.0 * ~mask).softmax(dim=-1)",
    fault="20 is subtracted from a forbidden score",
)
def test_the_weight_of_a_forbidden_key_is_exactly_zero(dtype):
    query, key, value = parts(1, 2, 5, 4, dtype=dtype)
    _, weights = scaled_dot_product_attention(query, key, value, causal_mask(5))
    assert not weights.masked_select(~causal_mask(5)).any()


@claim("masks#causality")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.tril().triu(-3)",
    fault="the causal mask is a window of four tokens",
)
def test_a_token_sees_itself_and_all_earlier_tokens():
    query, key, value = parts(1, 2, 5, 4)
    _, weights = scaled_dot_product_attention(query, key, value, causal_mask(5))
    earlier = torch.tensor([[key <= query for key in range(5)] for query in range(5)])
    assert (weights > 0).equal(earlier.expand(1, 2, 5, 5))


@claim("masks#causality")
@mutation(
    "transformer.py",
    "self.table[:length]",
    "self.table[:length].flip(0)",
    fault="positions are counted from the end of the sentence",
)
@few
@given(seed=seeds, n=st.integers(1, 7))
def test_the_first_k_tokens_alone_give_the_first_k_outputs(seed, n):
    model = small_model()
    torch.manual_seed(seed)
    src, tgt = torch.randint(1, 9, (1, 4)), torch.randint(1, 12, (1, n))
    whole = model(src, tgt)
    for k in range(1, n + 1):
        close(model(src, tgt[:, :k]), whole[:, :k], 1e-12)


@claim("masks#causality")
@mutation(
    "examples/masks/causal.py",
    "changes(None)",
    "changes(causal_mask(5))",
    fault="the decoder without a mask has the causal mask",
)
def test_without_a_mask_every_output_before_the_changed_token_changes(printed):
    shown = printed("examples", "causal")
    assert numbers(shown["causal mask"])[:3] == [0, 0, 0]
    assert min(numbers(shown["causal mask"])[3:]) > 0.1
    assert min(numbers(shown["no mask"])) > 0.1


# Both


@claim("masks#both")
@mutation(
    "transformer.py",
    "(ids != pad_id)[:, None, None, :]",
    "(ids != pad_id)[None, :, None, :]",
    fault="the sentences of the padding mask are on the axis of the heads",
)
@few
@given(seed=seeds, b=sizes, n=sizes)
def test_the_combined_mask_allows_what_both_masks_allow(seed, b, n):
    torch.manual_seed(seed)
    ids = torch.randint(3, (b, n))
    both = causal_mask(n) & padding_mask(ids)
    assert both.shape == (b, 1, n, n)
    for sentence in range(b):
        for query in range(n):
            for key in range(n):
                allowed = key <= query and ids[sentence, key] != 0
                assert both[sentence, 0, query, key] == allowed


@claim("masks#both")
@mutation(
    "examples/masks/both.py",
    "causal & padding",
    "causal | padding",
    fault='the example combines its masks with "or"',
)
def test_the_shape_of_the_combined_mask(printed):
    shown = printed("examples", "both")
    assert shown["causal"] == "(1, 1, 6, 6)"
    assert shown["padding"] == "(1, 1, 1, 6)"
    assert shown["both"] == "(1, 1, 6, 6)"
    assert shown["at real tokens"] == "0.0"
    assert shown["at pads, differs"] == "True"


@claim("masks#both")
@mutation(
    "transformer.py",
    "return full.tril()",
    "pair = torch.arange(size, device=device) // 2\n    return full & (pair[:, None] >= pair)",
    fault="the two tokens of a pair see each other",
)
@few
@given(seed=seeds, n=sizes, pads=sizes)
def test_the_causal_mask_alone_hides_padding_on_the_right_from_real_tokens(seed, n, pads):
    query, key, value = parts(1, 2, n + pads, 4, seed=seed)
    ids = F.pad(torch.ones(1, n, dtype=torch.int64), (0, pads))
    causal = causal_mask(n + pads)
    one, _ = scaled_dot_product_attention(query, key, value, causal)
    other, _ = scaled_dot_product_attention(query, key, value, causal & padding_mask(ids))
    assert torch.equal(one[:, :, :n], other[:, :, :n])


@claim("masks#both")
@mutation(
    "transformer.py",
    "mask = mask & padding_mask(tgt, self.config.pad_id)",
    "mask = mask.clone()",
    fault="the decoder ignores the padding mask of the target",
)
def test_padding_in_the_middle_of_a_target_is_hidden_too():
    model = small_model()
    src, tgt = torch.tensor([[6, 7]]), torch.tensor([[1, 4, 0, 5]])
    before = model(src, tgt)
    model.position.table[2] += 1  # another pad, at position 2
    after = model(src, tgt)
    assert torch.equal(before[:, [0, 1, 3]], after[:, [0, 1, 3]])
    assert not torch.allclose(before[:, 2], after[:, 2])


@claim("masks#both")
@mutation(
    "transformer.py",
    "mask = mask & padding_mask(tgt, self.config.pad_id)",
    "mask = mask | padding_mask(tgt, self.config.pad_id)",
    fault="causal or padding instead of causal and padding",
)
def test_each_attention_module_gets_the_mask_of_its_keys(monkeypatch):
    model, seen = small_model(), {}

    def spy(name):
        def forward(query, key, value, mask=None, need_weights=False):
            seen[name] = (query.size(1), key.size(1), mask)
            return original(query, key, value, mask, need_weights)

        attention = model.get_submodule(name)
        original = attention.forward
        monkeypatch.setattr(attention, "forward", forward)

    names = [
        "encoder.layers.1.self_attention",
        "decoder.layers.1.self_attention",
        "decoder.layers.1.cross_attention",
    ]
    for name in names:
        spy(name)
    src, tgt = torch.tensor([[6, 7, 8, 0, 0]]), torch.tensor([[1, 4, 5, 0]])
    model(src, tgt)
    encoder, decoder, cross = (seen[name] for name in names)
    assert encoder[:2] == (5, 5) and encoder[2].equal(padding_mask(src))
    assert decoder[:2] == (4, 4) and decoder[2].equal(causal_mask(4) & padding_mask(tgt))
    assert cross[:2] == (4, 5) and cross[2].equal(padding_mask(src))


@claim("masks#both")
@mutation(
    "examples/masks/cross.py",
    '("no mask", None)',
    '("no mask", mask)',
    fault="the decoder gets the memory mask in both rows of the example",
)
def test_without_a_memory_mask_the_decoder_reads_the_pads_of_the_source(printed):
    shown = printed("examples", "cross")
    assert shown["shape"] == "(1, 1, 1, 5)"
    assert float(shown["mask"]) == 0
    assert float(shown["no mask"]) > 0.1


# Conventions of other libraries: each row of the table


def table(language: str, anchor: str) -> list[list[str]]:
    """The cells of the first table in a section, without its header."""
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    section = page.split(f"{{ #{anchor} }}")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def from_ours(row: str, **names) -> torch.Tensor:
    """The value of the expression in this row's last column."""
    (cell,) = [cells[-1] for cells in table("en", "others") if cells[0] == row]
    (code,) = re.findall("`([^`]+)`", cell)
    return eval(code, {"torch": torch, **names})


SRC = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 8, 0, 0]])
TGT = torch.tensor([[1, 4, 5, 6], [1, 4, 5, 0]])


def self_attention(row: str, attend, **names):
    """The difference between their output, with the mask from the table, and ours."""
    b, h, n = 2, 3, 4
    query, key, value = parts(b, h, n, 8, dtype=torch.float32)
    causal, padding = causal_mask(n), padding_mask(TGT)
    mask = causal & padding
    names = {"mask": mask, "causal": causal, "padding": padding, "dtype": query.dtype} | names
    theirs = from_ours(row, **names)
    ours, _ = scaled_dot_product_attention(query, key, value, mask)
    return theirs, (attend(query, key, value, theirs) - ours).abs().max()


@claim("masks#others")
@mutation(
    "transformer.py",
    "check_mask(mask, scores.shape)",
    "check_mask(mask, scores.shape)\n        mask = mask.expand(scores.shape).mT",
    fault="explicit attention transposes its mask",
)
def test_row_sdpa_boolean():
    row = "SDPA, `attn_mask`, boolean"
    theirs, difference = self_attention(row, F.scaled_dot_product_attention)
    assert theirs.dtype == torch.bool and difference < 1e-6
    _, inverted = self_attention(
        row, lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, ~m)
    )
    assert inverted > 0.1


@claim("masks#others")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    "lowest = 0.0",
    fault="a forbidden score becomes zero",
)
def test_row_sdpa_float():
    row = "SDPA, `attn_mask`, float"
    theirs, difference = self_attention(row, F.scaled_dot_product_attention)
    assert theirs.dtype == torch.float32 and difference < 1e-6


@claim("masks#others")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.tril() | (torch.arange(size, device=device) < 2)",
    fault="the causal mask lets every token see the first two",
)
def test_row_sdpa_is_causal():
    mask = from_ours("SDPA, `is_causal=True`", causal=causal_mask(5))
    query, key, value = parts(2, 3, 5, 8)
    ours, _ = scaled_dot_product_attention(query, key, value, mask)
    close(F.scaled_dot_product_attention(query, key, value, is_causal=True), ours, 1e-12)


def multihead(dtype=torch.float64) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Our module and theirs with the same weights."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4).to(dtype)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).to(dtype)
    copy_attention(ours, theirs)
    return ours, theirs


def copy_attention(ours, theirs) -> None:
    layers = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in layers]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in layers]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@claim("masks#others")
@mutation(
    "transformer.py",
    "attend(q, k, v, mask,",
    "attend(q, k, v, None,",
    fault="multi-head attention does not use its mask",
)
def test_row_multihead_attention_key_padding_mask(dtype):
    ours, theirs = multihead(dtype)
    x = torch.randn(2, 5, 16, dtype=dtype)
    padding = padding_mask(SRC)
    ignored = from_ours("`nn.MultiheadAttention`, `key_padding_mask`", padding=padding)
    assert ignored.shape == (2, 5) and ignored.equal(SRC == 0)
    close(theirs(x, x, x, key_padding_mask=ignored)[0], ours(x, x, x, padding)[0])


@claim("masks#others")
@mutation(
    "transformer.py",
    "attend(q, k, v, mask,",
    "attend(q, k, v, mask | (torch.arange(self.nhead) > 0)[:, None, None],",
    fault="only the first head gets the mask",
)
def test_row_multihead_attention_two_axes(dtype):
    ours, theirs = multihead(dtype)
    x = torch.randn(2, 5, 16, dtype=dtype)
    ignored = from_ours("`nn.MultiheadAttention`, `attn_mask`, two axes", causal=causal_mask(5))
    assert ignored.shape == (5, 5) and ignored.dtype == torch.bool
    close(theirs(x, x, x, attn_mask=ignored)[0], ours(x, x, x, causal_mask(5))[0])


@claim("masks#others")
@mutation(
    "transformer.py",
    "attend(q, k, v, mask,",
    "attend(q, k, v, mask.flip(0),",
    fault="each sentence gets the mask of another sentence",
)
def test_row_multihead_attention_three_axes(dtype):
    ours, theirs = multihead(dtype)
    x = torch.randn(2, 5, 16, dtype=dtype)
    mask = causal_mask(5) & padding_mask(SRC)
    row = "`nn.MultiheadAttention`, `attn_mask`, three axes"
    ignored = from_ours(row, mask=mask, b=2, h=4, n=5, m=5)
    assert ignored.shape == (8, 5, 5)
    close(theirs(x, x, x, attn_mask=ignored)[0], ours(x, x, x, mask)[0])


@pytest.fixture(scope="module")
def two_models():
    """Our stacks and nn.Transformer with the same weights."""
    ours = small_model(norm_first=True)
    theirs = nn.Transformer(16, 4, 2, 2, 32, 0.0, batch_first=True, norm_first=True).double()
    layers = [*ours.encoder.layers, *ours.decoder.layers]
    for one, other in zip(layers, [*theirs.encoder.layers, *theirs.decoder.layers], strict=True):
        copy_attention(one.self_attention, other.self_attn)
        if hasattr(one, "cross_attention"):
            copy_attention(one.cross_attention, other.multihead_attn)
        other.linear1.load_state_dict(one.feed_forward.linear1.state_dict())
        other.linear2.load_state_dict(one.feed_forward.linear2.state_dict())
        for i, residual in enumerate(one.residuals, 1):
            getattr(other, f"norm{i}").load_state_dict(residual.norm.state_dict())
    theirs.encoder.norm.load_state_dict(ours.encoder.norm.state_dict())
    theirs.decoder.norm.load_state_dict(ours.decoder.norm.state_dict())
    return ours, theirs


ARGUMENTS = {
    "src_key_padding_mask": SRC,
    "memory_key_padding_mask": SRC,
    "tgt_key_padding_mask": TGT,
    "tgt_mask": TGT,
}


@claim("masks#others")
@mutation(
    "transformer.py",
    "return self.decoder(x, memory, mask, memory_mask)",
    "return self.decoder(x, memory, mask)",
    fault="decode does not pass on the memory mask",
)
@mutation(
    "transformer.py",
    "return self.encoder(x, padding_mask(src, self.config.pad_id))",
    "return self.encoder(x, causal_mask(src.size(1)))",
    fault="the encoder gets a causal mask instead of its padding mask",
)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_row_nn_transformer(two_models, argument):
    ours, theirs = two_models
    masks = {}
    for name, ids in ARGUMENTS.items():
        names = {"padding": padding_mask(ids), "causal": causal_mask(4)}
        masks[name] = from_ours(f"`nn.Transformer`, `{name}`", **names)
    src = ours.position(ours.src_embedding(SRC))
    tgt = ours.position(ours.tgt_embedding(TGT))
    real = TGT != 0
    expected = ours.decode(TGT, ours.encode(SRC), padding_mask(SRC))[real]
    close(theirs(src, tgt, **masks)[real], expected)
    masks[argument] = ~masks[argument]  # our convention where theirs is expected
    wrong = theirs(src, tgt, **masks)[real]
    assert not torch.allclose(wrong, expected, atol=0.01)


@claim("masks#others")
@mutation(
    "transformer.py",
    "torch.ones(1, 1, size, size, dtype",
    "torch.ones(1, 1, size, size + 1, dtype",
    fault="the causal mask has a column too many",
)
def test_row_generate_square_subsequent_mask():
    row = "`nn.Transformer.generate_square_subsequent_mask`"
    added = from_ours(row, causal=causal_mask(4))
    assert nn.Transformer.generate_square_subsequent_mask(4).equal(added)


@claim("masks#others")
@mutation(
    "transformer.py",
    "(ids != pad_id)[:, None, None, :]",
    "(F.pad(ids, (1, -1), value=-1) != pad_id)[:, None, None, :]",
    fault="the padding mask lets the first pad pass",
)
def test_row_hugging_face_attention_mask():
    mask = from_ours("Hugging Face, `attention_mask`", padding=padding_mask(SRC))
    assert mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


@claim("masks#others")
@mutation(
    "transformer.py",
    "return (ids != pad_id)[:, None, None, :]",
    "return (ids != pad_id)[:, None, None, :].expand(-1, 1, ids.size(1), -1)",
    fault="the padding mask has a row for each query",
)
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_row_hugging_face_extended(dtype):
    row = "Hugging Face, extended"
    _, difference = self_attention(row, F.scaled_dot_product_attention)
    assert difference < 1e-6
    padding = padding_mask(TGT)
    attention_mask = padding[:, 0, 0].long()
    lowest = torch.finfo(dtype).min
    by_definition = (1.0 - attention_mask[:, None, None, :]).to(dtype) * lowest
    assert from_ours(row, mask=padding, dtype=dtype).equal(by_definition)


@claim("masks#others", kind="measurement")
def test_the_table_has_no_row_without_a_test():
    english = [cells[0] for cells in table("en", "others")]
    assert len(english) == len(set(english)) == 13
    source = Path(__file__).read_text(encoding="utf-8")
    for row in english:
        argument = re.match("`nn.Transformer`, `(.*)`", row)
        assert argument[1] in ARGUMENTS if argument else f'"{row}"' in source, row
    chinese = table("zh", "others")
    code = re.compile("`([^`]+)`")
    for one, other in zip(table("en", "others"), chinese, strict=True):
        assert code.findall(" ".join(one)) == code.findall(" ".join(other))


@claim("masks#others")
@mutation(
    "examples/masks/conventions.py",
    "attention_mask[:, None, None, :] * causal_mask(5)",
    "attention_mask[:, None, None, :]",
    fault="the additive mask of the example omits the causal mask",
)
def test_the_additive_form_is_equivalent_to_the_boolean_form(printed):
    shown = printed("examples", "conventions")
    for name in "boolean", "added, 0 or -inf", "added, 0 or lowest":
        assert float(shown[name]) == 0
    assert float(shown["inverted"]) > 1
    assert shown["masks are boolean, True may attend"] == "torch.float32"


@claim("masks#others")
@mutation(
    "examples/masks/torch_nn.py",
    "attn_mask=~causal[0, 0]",
    "attn_mask=causal[0, 0]",
    fault="the example inverts the padding mask and not the causal mask",
)
def test_nn_multihead_attention_needs_our_masks_inverted(printed):
    shown = printed("examples", "torch_nn")
    assert shown["masks turned round"] == "0.00000"
    assert shown["our masks as they are"] == "nan"


@claim("masks#others", kind="measurement")
def test_an_inverted_key_padding_mask_is_silent_if_every_sentence_is_padded():
    _, theirs = multihead()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    ids = torch.tensor([[6, 7, 8, 0, 0], [6, 0, 0, 0, 0]])
    right = theirs(x, x, x, key_padding_mask=ids == 0)[0]
    wrong = theirs(x, x, x, key_padding_mask=ids != 0)[0]
    assert wrong.isfinite().all() and not torch.allclose(right, wrong, atol=0.01)


@claim("masks#others", kind="measurement")
def test_mixing_boolean_and_float_masks_gives_a_warning_and_two_boolean_masks_give_none():
    _, theirs = multihead(torch.float32)
    x = torch.randn(2, 5, 16)
    added = nn.Transformer.generate_square_subsequent_mask(5)
    with pytest.warns(UserWarning, match="mismatched"):
        theirs(x, x, x, key_padding_mask=SRC == 0, attn_mask=added)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs(x, x, x, key_padding_mask=SRC == 0, attn_mask=~causal_mask(5)[0, 0])


@claim("masks#others", kind="measurement")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_in_evaluation_nn_transformer_encoder_may_output_zeros_at_padding():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x, real = torch.randn(2, 5, 16), SRC != 0
    ignored = ~real
    slow = encoder(x, src_key_padding_mask=ignored)
    with torch.no_grad():
        fast = encoder(x, src_key_padding_mask=ignored)
    close(fast[real], slow[real], 1e-5)
    assert not fast[ignored].any() and slow[ignored].any()


# Why not minus a billion


@claim("masks#finite-fill")
@mutation(
    "examples/masks/half.py",
    "scores.to(dtype).masked_fill",
    "scores.masked_fill",
    fault="the scores stay in float32",
)
def test_minus_a_billion_does_not_fit_float16_and_fits_the_others(printed):
    shown = printed("examples", "half")
    assert "without overflow" in shown["torch.float16, -1e9"]
    assert shown["torch.float16 ends at"] == "-65504"
    del shown["torch.float16, -1e9"]
    assert {value for label, value in shown.items() if "ends" not in label} == {"fits"}
    assert torch.finfo(torch.float16).min == -65504
    scores = torch.zeros(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="without overflow"):
        scores.masked_fill(torch.tensor([True, False]), -1e9)


@claim("masks#finite-fill")
@mutation(
    "examples/masks/leaks.py",
    "half(0, 1, 20000)",
    "half(0, 1, 2000)",
    fault="the high score of the example is smaller than the fill",
)
def test_minus_ten_thousand_leaks_when_scores_are_large(printed):
    shown = printed("examples", "leaks")
    assert shown["low scores, replaced by -1e4"] == "100%"
    assert shown["high score, -1e4 added"] == "100%"
    assert shown["low scores, ours"] == shown["high score, ours"] == "0%"


@claim("masks#finite-fill")
@mutation(
    "examples/masks/leaks.py",
    "(usual + fill).softmax(dim=0)",
    "torch.full_like(usual, fill).softmax(dim=0)",
    fault="the fill replaces the scores of the row instead of being added",
)
def test_a_row_with_minus_ten_thousand_added_everywhere_has_the_unmasked_weights(printed):
    shown = printed("examples", "leaks")
    assert shown["all forbidden, -1e+04 added"] == shown["no mask"]
    torch.manual_seed(0)
    scores = torch.randn(6, dtype=torch.float64)
    close((scores - 1e4).softmax(dim=0), scores.softmax(dim=0), 1e-11)


@claim("masks#finite-fill")
@mutation(
    "examples/masks/leaks.py",
    "usual = torch.tensor([2.0, 1.0, 3.0])",
    "usual = torch.tensor([2.0, 1.0, 3.0], dtype=torch.float64)",
    fault="the scores of the row are in float64, which keeps their differences",
)
def test_a_row_with_minus_a_billion_added_everywhere_is_uniform(printed):
    assert numbers(printed("examples", "leaks")["all forbidden, -1e+09 added"]) == [0.33] * 3


@claim("masks#finite-fill")
@mutation(
    "examples/masks/leaks.py",
    "usual + lowest + lowest",
    "usual + lowest",
    fault="the example adds one mask instead of two",
)
def test_two_added_masks_of_the_lowest_number_overflow(printed):
    assert printed("examples", "leaks")["two masks added"] == "[-inf, -inf, -inf]"
    for dtype in [*DTYPES, *HALVES]:
        lowest = torch.tensor(torch.finfo(dtype).min, dtype=dtype)
        assert lowest.isfinite() and (lowest + lowest).isinf()


@claim("masks#finite-fill")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    "lowest = -1e9",
    fault="forbidden scores become minus a billion",
)
@few
@given(seed=seeds, size=st.sampled_from([1.0, 30.0, 1000.0, 30000.0]))
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_in_our_attention_a_forbidden_weight_is_exactly_zero_for_any_scores(dtype, seed, size):
    torch.manual_seed(seed)
    key = (torch.rand(6, 1) * 2 - 1).mul(size).to(dtype)
    query, value = torch.ones(1, 1, dtype=dtype), torch.ones(6, 1, dtype=dtype)
    mask = torch.rand(1, 6) > 0.5
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert not weights[~mask].any()
    assert output.isfinite().all()
    close(weights.float().sum(), mask.any().float(), 0.01)


@claim("masks#finite-fill")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    "lowest = -1e4",
    fault="forbidden scores become -1e4 instead of the lowest number",
)
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_in_our_attention_allowed_keys_get_all_the_weight_even_with_low_scores(dtype):
    query, key = torch.ones(1, 1, dtype=dtype), torch.tensor([[-20000.0], [-20000.0], [0.0]])
    mask = torch.tensor([[True, True, False]])
    _, weights = scaled_dot_product_attention(query, key.to(dtype), key.to(dtype), mask)
    assert weights.tolist() == [[0.5, 0.5, 0]]


@claim("masks#finite-fill")
@mutation(
    "transformer.py",
    "check_mask(mask, scores.shape)",
    "check_mask(mask, scores.shape)\n        mask = mask | ~mask.any(dim=-1, keepdim=True)",
    fault="explicit attention lets a query with no allowed key attend to every key",
)
def test_minus_infinity_with_a_second_fill_has_the_same_weights_and_gradients_as_ours():
    mask = torch.tensor([[False, False], [True, False]])
    results = []
    for infinite in True, False:
        query, key, value = (x.requires_grad_() for x in parts(2, 4))
        if infinite:
            scores = (query @ key.T / 2).masked_fill(~mask, -torch.inf)
            weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        else:
            _, weights = scaled_dot_product_attention(query, key, value, mask)
        gradients = torch.autograd.grad((weights @ value).square().sum(), (query, key, value))
        results.append([weights, *gradients])
    for one, other in zip(*results, strict=True):
        close(one, other, 1e-12)


@claim("masks#finite-fill")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    'lowest = float("-inf")',
    fault="forbidden scores become minus infinity",
)
@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")
def test_anomaly_detection_stops_at_minus_infinity_and_not_at_ours():
    mask = torch.tensor([[False, False], [True, False]])
    query, key, value = (x.requires_grad_() for x in parts(2, 4))
    with torch.autograd.detect_anomaly():
        scores = (query @ key.T / 2).masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        with pytest.raises(RuntimeError, match="nan values"):
            weights.square().sum().backward()
        output, _ = scaled_dot_product_attention(query, key, value, mask)
        output.square().sum().backward()


# Rows with no allowed key


@claim("masks#empty-rows")
@mutation(
    "examples/masks/empty_rows.py",
    "[[0, 6, 7]]",
    "[[6, 7, 0]]",
    fault="the example of empty rows has its padding on the right",
)
def test_a_row_with_no_allowed_key_is_uniform_or_nan_or_zeros(printed):
    shown = printed("examples", "empty_rows")
    assert numbers(shown["-1000000000.0"]) == [0.33] * 3
    assert shown["-inf"] == "[nan nan nan]"
    assert shown["ours"] == "[0. 0. 0.]"
    assert shown["torch.nn, need_weights=True"] == "[nan, nan, nan, nan]"
    assert numbers(shown["torch.nn, need_weights=False"]) == [0] * 4


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "weights = weights.masked_fill(~mask, 0.0)",
    "weights = weights.clone()",
    fault="without the second fill an empty row is uniform",
)
@mutation(
    "transformer.py",
    "weights = weights.masked_fill(~mask, 0.0)",
    "weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)",
    fault="an empty row is filled with minus infinity",
)
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_a_row_with_no_allowed_key_gives_zeros_on_both_paths(attend, dtype):
    query, key, value = parts(2, 3, 4, 8, dtype=dtype)
    mask = causal_mask(4).tril(-1)  # row 0 is empty
    output, weights = attend(query, key, value, mask)
    assert not output[:, :, 0].any()
    assert output[:, :, 1:].isfinite().all() and output[:, :, 1:].any()
    if weights is not None:
        assert not weights[:, :, 0].any()


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "return (ids != pad_id)[:, None, None, :]",
    "real = (ids != pad_id).flip(-1).cummax(dim=-1).values.flip(-1)\n"
    "    return real[:, None, None, :]",
    fault="the padding mask detects padding on the right only",
)
def test_under_the_causal_mask_padding_on_the_left_makes_empty_rows_and_on_the_right_none():
    left, right = torch.tensor([[0, 0, 6]]), torch.tensor([[6, 0, 0]])
    assert (causal_mask(3) & padding_mask(left)).any(dim=-1).flatten().tolist() == [0, 0, 1]
    assert (causal_mask(3) & padding_mask(right)).any(dim=-1).all()


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "    x = F.scaled_dot_product_attention(query, key, value, mask, dropout)",
    "    scores = query @ key.mT / math.sqrt(query.size(-1))\n"
    "    x = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1) @ value",
    fault="the fused path becomes a softmax of minus infinity for an empty row",
)
def test_a_model_fed_only_padding_has_finite_gradients():
    model = small_model()
    output = model(torch.zeros(1, 3, dtype=torch.int64), torch.zeros(1, 2, dtype=torch.int64))
    output.square().sum().backward()
    assert output.isfinite().all()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return F.linear(joined, self.output.weight), weights",
    fault="the output layer of attention does not add its bias",
)
def test_an_empty_row_leaves_only_the_bias_of_the_output_layer():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(1, 3, 16)
    nothing = torch.zeros(1, 1, 3, 3, dtype=torch.bool)
    for need_weights in True, False:
        output, _ = attention(x, x, x, nothing, need_weights)
        close(output, attention.output.bias.expand(1, 3, 16))


@claim("masks#empty-rows")
@mutation(
    "examples/masks/poison.py",
    'float("-inf")',
    "-1e9",
    fault="the fill of the example is finite",
)
def test_one_empty_row_makes_every_gradient_nan_although_the_loss_omits_it(printed):
    shown = printed("examples", "poison")
    assert shown["infinite, loss"] == shown["scaled_dot_product_attention, loss"] == "4.0"
    assert shown["infinite, gradient"] == "[nan, nan]"
    assert shown["scaled_dot_product_attention, gradient"] == "[4.0, 0.0]"


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = torch.atleast_2d(mask) | ~mask.any(dim=-1, keepdim=True)",
    fault="the fused path lets a query with no allowed key attend to every key",
)
@few
@given(seed=seeds, share=st.sampled_from([0.2, 0.5, 1.0]))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_both_paths_agree_and_so_do_their_gradients_with_empty_rows_too(dtype, seed, share):
    torch.manual_seed(seed)
    mask = torch.rand(2, 1, 4, 4) > share
    results = []
    for attend in PATHS:
        inputs = [x.requires_grad_() for x in parts(2, 3, 4, 8, dtype=dtype, seed=seed)]
        output, _ = attend(*inputs, mask)
        results.append([output, *torch.autograd.grad(output.square().sum(), inputs)])
    for one, other in zip(*results, strict=True):
        assert one.isfinite().all()
        close(one, other, 1e-5)
    blind = ~mask.any(dim=-1).expand(2, 3, 4)
    for output, of_query, _, _ in results:
        assert not output[blind].any() and not of_query[blind].any()


@claim("masks#empty-rows")
@mutation(
    "transformer.py",
    "    scores = query @ key.transpose(-2, -1)  # (..., n, m)\n"
    "    scores = scores / math.sqrt(query.size(-1))\n",
    "    query = query / math.sqrt(query.size(-1))\n"
    "    scores = query @ key.transpose(-2, -1)  # (..., n, m)\n",
    fault="the query is divided before the product, which then fits float16",
)
def test_in_float16_a_large_product_overflows_on_the_explicit_path_only():
    query = torch.full((1, 1, 1, 64), 40.0, dtype=torch.float16)
    key = torch.cat([query, -query], dim=2)
    value = torch.eye(2, dtype=torch.float16)[None, None]
    assert scaled_dot_product_attention(query, key, value)[0].isnan().all()
    assert fused_attention(query, key, value)[0].flatten().tolist() == [1, 0]
    explicit, fused = (path(query / 2, key / 2, value)[0] for path in PATHS)
    close(explicit, fused)  # a product of 25600, not of 102400


# A mask that fits by accident


@claim("masks#accident")
@mutation(
    "transformer.py",
    "if mask.dim() > len(shape) or",
    "if mask.dim() not in (2, len(shape)) or",
    fault="a mask of three axes is rejected",
)
def test_an_n_by_n_mask_with_a_missing_batch_axis_applies_to_the_heads_if_there_are_n_heads():
    n = 5
    query, key, value = parts(2, n, n, 4)
    _, weights = scaled_dot_product_attention(query, key, value, causal_mask(n)[0, 0].unsqueeze(1))
    for head in range(n):
        seen = weights[:, head] > 0
        assert seen[..., : head + 1].all() and not seen[..., head + 1 :].any()


@claim("masks#accident")
@mutation(
    "examples/masks/accident.py",
    '"wrong": square.unsqueeze(1)',
    '"wrong": square.unsqueeze(0)',
    fault="the wrong mask of the example has the missing axis in front",
)
def test_by_accident_all_heads_but_the_first_see_the_future(printed):
    shown = printed("examples", "accident")
    assert numbers(shown["right, heads 1 to 8"]) == [0] * 8
    mass = numbers(shown["wrong, heads 1 to 8"])
    assert mass[0] == 0 and min(mass[1:]) > 0.3 and mass[-1] == max(mass)
    assert float(shown["wrong, the most of 8"]) == max(mass)
    assert shown["the mask does not broadcast"] == "(10, 1, 10) to (1, 8, 10, 10)"


@claim("masks#accident")
@mutation(
    "transformer.py",
    "any(a not in (1, b) for",
    "any(a > b for",
    fault="a mask may be smaller than the scores",
)
@pytest.mark.parametrize("n", [3, 5, 9])
def test_for_every_other_length_the_same_mask_raises_an_error(attend, n):
    query, key, value = parts(1, 4, n, 4)
    with pytest.raises(ValueError, match="does not broadcast"):
        attend(query, key, value, causal_mask(n)[0, 0].unsqueeze(1))


@claim("masks#accident")
@mutation(
    "examples/masks/batch_accident.py",
    '"wrong": ids != 0',
    '"wrong": (ids != 0)[:, None, None]',
    fault="the padding mask of the example has all its axes",
)
def test_a_padding_mask_with_missing_axes_applies_to_the_queries_if_b_is_n(printed):
    shown = printed("examples", "batch_accident")
    assert numbers(shown["right, share of the pads"]) == [0] * 3
    assert numbers(shown["wrong, share of the pads"])[0] == 0
    assert min(numbers(shown["wrong, share of the pads"])[1:]) > 0.05
    query, key, value = parts(3, 2, 3, 4)
    pads = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0]]).bool()
    _, weights = scaled_dot_product_attention(query, key, value, pads)
    assert (weights > 0).equal(pads.expand(3, 2, 3, 3))  # the query's row, not the sentence's


@claim("masks#accident")
@mutation(
    "transformer.py",
    "zip(reversed(mask.shape), reversed(shape), strict=False)",
    "zip(mask.shape[:-3:-1], shape[:-3:-1], strict=False)",
    fault="only the last two axes of a mask are checked",
)
def test_masks_with_all_their_axes_fit_only_the_right_tensor():
    query = torch.randn(2, 3, 5, 4)
    key = torch.randn(2, 3, 7, 4)
    padding = padding_mask(torch.ones(2, 7, dtype=torch.int64))
    scaled_dot_product_attention(query, key, key, padding)
    for wrong in causal_mask(5), causal_mask(7), padding.squeeze(), padding.transpose(0, 1):
        with pytest.raises(ValueError, match="does not broadcast"):
            scaled_dot_product_attention(query, key, key, wrong)


# Inverted masks go unnoticed


@claim("masks#inverted")
@mutation(
    "examples/masks/inverted.py",
    '"inverted": ~causal_mask(5)',
    '"inverted": causal_mask(5).mT',
    fault="the inverted mask of the example lets each token see itself",
)
def test_an_inverted_causal_mask_sees_only_the_future(printed):
    shown = printed("examples", "inverted")
    for name in "right", "inverted":
        assert shown[f"{name}, shape"] == "(2, 5, 16)"
        assert shown[f"{name}, finite"] == "True"
    assert numbers(shown["right, weights of the first token"]) == [1, 0, 0, 0, 0]
    assert numbers(shown["inverted, weights of the first token"])[0] == 0
    assert numbers(shown["inverted, weights of the last token"]) == [0] * 5
    assert shown["right, outputs before the change stay"] == "True"
    assert shown["inverted, outputs before the change stay"] == "False"


@claim("masks#inverted")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    "lowest = scores.min()",
    fault="a forbidden score becomes the lowest of the scores",
)
def test_an_inverted_padding_mask_reads_nothing_but_pads():
    query, key, value = parts(1, 2, 5, 4)
    pads = SRC[1:] == 0
    _, weights = scaled_dot_product_attention(query, key, value, ~padding_mask(SRC[1:]))
    close(weights[..., pads[0]].sum(dim=-1), torch.ones(1, 2, 5, dtype=torch.float64))


def adding(fill):
    """Attention with an additive mask, `fill` where the boolean mask is False."""

    def attend(query, key, value, mask):
        weights = (query @ key.transpose(-2, -1) / 2 + ~mask * fill).softmax(dim=-1)
        return weights @ value, weights

    return attend


def with_ours(query, key, value, mask):
    return scaled_dot_product_attention(query, key, value, mask)


N = 4  # sentences, heads and tokens, so that the accidents happen
ORDER = torch.ones(1, 1, N, N, dtype=torch.bool).tril()
PADS = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]).bool()
PADDING = PADS[:, None, None]
NOTHING = torch.zeros(1, 1, N, N, dtype=torch.bool)
MISTAKES = {
    "no mask": (with_ours, ORDER, torch.ones_like(ORDER)),
    "inverted": (with_ours, ORDER, ~ORDER),
    "on the axis of the heads, n = h": (with_ours, ORDER, ORDER[0, 0].unsqueeze(1)),
    "sentences on the axis of the queries, b = n": (with_ours, PADDING, PADS),
    "triangle without its diagonal": (with_ours, ORDER, ORDER.tril(-1)),
    "all False": (with_ours, ORDER, NOTHING),
    "−1e4 added to a whole row": (adding(-1e4), NOTHING, NOTHING),
    "−1e4 or −1e9 added, other rows, moderate scores": (adding(-1e4), ORDER, ORDER),
}


def checks(attend, meant, given) -> tuple[bool, bool, bool, bool]:
    """Whether the shape is right, all is finite, hidden tokens change nothing, allowed ones do."""
    query, key, value = parts(N, N, N, 4)
    output, _ = attend(query, key, value, given)
    same = other = True
    for i in range(N):
        for j in range(N):
            changed = value.clone()
            changed[:, :, j] += 1
            moved = attend(query, key, changed, given)[0] - output
            hidden = ~meant.expand(N, N, N, N)[..., i, j]
            same &= bool(moved[..., i, :][hidden].abs().le(1e-9).all())
            other &= bool(moved[..., i, :][~hidden].abs().gt(1e-4).all())
    return output.shape == query.shape, bool(output.isfinite().all()), same, other


@claim("masks#inverted")
@mutation(
    "transformer.py",
    "check_mask(mask, scores.shape)",
    "check_mask(mask, scores.shape)\n"
    "        mask = mask | torch.eye(*scores.shape[-2:], dtype=torch.bool)",
    fault="every token may attend to itself, whatever the mask",
)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_check_in_the_table_catches_the_mistakes_that_the_table_says(mistake):
    row = list(MISTAKES).index(mistake)
    english, chinese = (table(language, "inverted")[row] for language in ("en", "zh"))
    passes = checks(*MISTAKES[mistake])
    assert english == [mistake, *("passes" if each else "caught" for each in passes)]
    assert chinese[1:] == ["通过" if each else "抓到" for each in passes]
    assert len(table("en", "inverted")) == len(MISTAKES)


@claim("masks#inverted", kind="mathematics")
def test_an_added_fill_passes_with_moderate_scores_and_not_with_large_ones():
    for fill in -1e4, -1e9:
        assert checks(adding(fill), ORDER, ORDER) == (True,) * 4

        def large(query, key, value, mask, fill=fill):
            return adding(fill)(query, key * 1e10, value, mask)

        assert not checks(large, ORDER, ORDER)[2]


@claim("masks#inverted")
@mutation(
    "transformer.py",
    "return full.tril()",
    "return full.tril(-1)",
    fault="the causal mask hides each token from itself, too",
)
def test_each_allowed_token_moves_the_output_and_no_hidden_one_does(attend):
    for meant, mask in (ORDER, causal_mask(N)), (PADDING, padding_mask(PADS.long())):
        assert checks(attend, meant, mask) == (True,) * 4


# Exercises


@claim("masks#exercises")
@mutation(
    "exercises/masks/window.py",
    "causal_mask(6).triu(-2)",
    "causal_mask(6).triu(-3)",
    fault="the window is wider by one token",
)
def test_a_window_of_three_reaches_twice_as_far_in_two_layers(printed):
    shown = printed("exercises", "window")
    assert shown["one layer reaches"] == "[0, 1, 2]"
    assert shown["two layers reach"] == "[0, 1, 2, 3, 4]"
    window = causal_mask(6).triu(-2)[0, 0]
    for i in range(6):
        for j in range(6):
            assert window[i, j] == (i - 2 <= j <= i)


@claim("masks#exercises")
@mutation(
    "exercises/masks/packing.py",
    "mask = same[:, None] & causal_mask(7)",
    "mask = causal_mask(7)",
    fault="packed sentences see each other",
)
def test_two_sentences_packed_in_one_row_give_the_same_outputs_as_alone(printed):
    shown = printed("exercises", "packing")
    assert float(shown["first sentence, difference"]) == 0
    assert float(shown["second sentence, difference"]) == 0


@claim("masks#exercises")
@mutation(
    "exercises/masks/heads_in_the_batch.py",
    "ignore.repeat_interleave(nhead, dim=0)",
    "ignore.repeat(nhead, 1, 1)",
    fault="the answer repeats the masks in the order of the heads",
)
def test_masks_of_sentences_are_repeated_for_each_head(printed):
    shown = printed("exercises", "heads_in_the_batch")
    assert float(shown["expand, (8, 5, 5)"]) == 0
    assert float(shown["repeat_interleave, (8, 5, 5)"]) == 0
    assert float(shown["repeat, (8, 5, 5)"]) > 0.1


@claim("masks#exercises")
@mutation(
    "exercises/masks/last_row.py",
    "causal_mask(5)[:, :, -1:]",
    "causal_mask(5)[:, :, :1]",
    fault="the answer gives the last query the first row of the mask",
)
def test_is_causal_with_one_query_sees_only_the_first_key(printed):
    shown = printed("exercises", "last_row")
    assert numbers(shown["one query, is_causal"]) == [1, 0, 0, 0, 0]
    assert shown["one query, our last row"] == shown["all five queries"]
    assert causal_mask(5)[:, :, -1:].all()


@claim("masks#exercises")
@mutation(
    "exercises/masks/both_sides.py",
    "mask = causal_mask(4) & padding_mask(torch.tensor([ids]))",
    "mask = causal_mask(4) & padding_mask(torch.tensor([ids]), 99)",
    fault="the mask for padding on both sides ignores the padding",
)
def test_padding_on_the_left_leaves_rows_with_no_allowed_key_and_these_give_zeros(printed):
    shown = printed("exercises", "both_sides")
    right = [shown[f"pads on the right, row {i}"] for i in range(4)]
    left = [shown[f"pads on the left, row {i}"] for i in range(4)]
    assert right == ["T F F F", "T T F F", "T T F F", "T T F F"]
    assert left == ["F F F F, zeros", "F F F F, zeros", "F F T F", "F F T T"]


@claim("masks#exercises")
@mutation(
    "exercises/masks/left_padding.py",
    "(left != 0).cumsum(dim=1) - 1",
    "(left != 0).cumsum(dim=1)",
    fault="the answer counts positions from 1 at the first token",
)
def test_padding_on_the_left_needs_positions_counted_from_the_first_token(printed):
    shown = printed("exercises", "left_padding")
    assert float(shown["positions from the left edge"]) > 0.1
    assert float(shown["positions from the first token"]) == 0


@claim("masks#exercises")
@mutation(
    "transformer.py",
    "x = layer(x, mask)",
    "x = layer(x + sinusoidal_positional_encoding(*x.shape[1:]), mask)",
    fault="every encoder layer adds the positions again",
)
def test_without_positions_padding_on_the_left_changes_nothing():
    torch.manual_seed(0)
    encoder = Encoder(small_config()).double()
    embedding = TokenEmbedding(9, 16, padding_idx=0).double()
    right, left = torch.tensor([[6, 7, 0, 0]]), torch.tensor([[0, 0, 6, 7]])
    one = encoder(embedding(right), padding_mask(right))
    other = encoder(embedding(left), padding_mask(left))
    close(one[:, :2], other[:, 2:], 1e-12)
