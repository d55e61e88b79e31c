"""The claims of the chapter on masks."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evidence.comparisons import compare_changed_token
from helpers import DTYPES, few, numbers, run_snippet, seeds
from marks import claim, mutation
from mask_helpers import PATHS, assert_near, random_qkv, small_config, small_model
from transformer import (
    Encoder,
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)

CHAPTER = "masks"
sizes = st.integers(1, 6)


# Zero vectors


@claim("masks#padding-mask")
def test_a_zero_key_gets_the_weight_of_any_zero_score():
    query, key, value = random_qkv(4, 8)
    key[2:] = 0
    _, weights = scaled_dot_product_attention(query, key, value)
    assert_near(weights[:, 2], 1 / (query @ key.T / 8**0.5).exp().sum(dim=-1))


@claim("masks#padding-mask")
def test_a_pad_does_not_stay_a_zero_vector():
    embedded = TokenEmbedding(9, 16, padding_idx=0)(torch.tensor([[6, 7, 0, 0]]))
    assert not embedded[0, 2:].any()
    placed = PositionalEncoding(16, dropout=0.0)(embedded)
    assert placed[0, 2:].norm(dim=-1).min() > 1


# The simple way and minus infinity


@claim("masks#causal-mask")
def test_the_simple_way_gives_the_row_of_the_page():
    names, _ = run_snippet("examples", CHAPTER, "multiply")
    assert (names["exponentials"].sum(dim=-1) == 10).all()
    assert_near(names["weights"][1], torch.tensor([0.3, 0.3, 0.4]))
    expected = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [0.1, 0.6, 0.3]])
    assert_near(names["kept"] / names["sums"], expected)


@claim("masks#causal-mask")
@mutation(
    "examples/masks/multiply.py",
    "masked_fill(triangle == 0, -torch.inf)",
    "masked_fill(triangle == 0, 0.0)",
    fault="the example hides a score by 0 instead of −∞",
)
def test_minus_infinity_before_the_softmax_gives_the_weights_of_the_simple_way():
    names, _ = run_snippet("examples", CHAPTER, "multiply")
    weights = names["scores"].softmax(dim=-1)
    assert_near(weights, names["kept"] / names["sums"])
    lowest = names["scores"].clamp(min=torch.finfo(torch.float32).min)
    assert torch.equal(lowest.softmax(dim=-1), weights)


@claim("masks#causal-mask", kind="mathematics")
def test_the_simple_way_divides_zero_by_zero_where_all_allowed_weights_are_rounded_to_zero():
    scores, mask = torch.tensor([0.0, 200.0]), torch.tensor([True, False])
    simple = scores.softmax(dim=-1) * mask
    assert (simple / simple.sum()).isnan()[0]
    hidden = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    assert hidden.tolist() == [1, 0]


@claim("masks#convention")
@few
@given(seed=seeds, n=sizes, m=sizes)
def test_the_weights_follow_the_formula_where_true_means_may_attend(seed, n, m):
    torch.manual_seed(seed)
    query, key = torch.randn(n, 4).double(), torch.randn(m, 4).double()
    mask = torch.rand(n, m) > 0.4
    mask[:, 0] = True
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    kept = (query @ key.T / 2).exp() * mask
    assert_near(weights, kept / kept.sum(dim=-1, keepdim=True), 1e-12)


@claim("masks#convention")
@few
@given(seed=seeds, kept=sizes, masked=sizes)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("attend", PATHS, ids=lambda path: path.__name__)
def test_a_masked_key_is_equivalent_to_an_absent_key(attend, dtype, seed, kept, masked):
    query, key, value = random_qkv(2, 3, kept + masked, 4, dtype=dtype, seed=seed)
    mask = torch.arange(kept + masked) < kept
    output, _ = attend(query, key, value, mask[None, None, None])
    absent, _ = attend(query, key[..., :kept, :], value[..., :kept, :])
    assert_near(output, absent)


# The padding mask


@claim("masks#padding-mask")
@few
@given(seed=seeds, b=sizes, n=sizes, pad=st.integers(0, 4))
def test_the_padding_mask_is_true_where_the_key_is_a_real_token(seed, b, n, pad):
    torch.manual_seed(seed)
    ids = torch.randint(5, (b, n))
    mask = padding_mask(ids, pad)
    assert mask.shape == (b, 1, 1, n)
    assert mask[:, 0, 0].tolist() == [[i != pad for i in row] for row in ids.tolist()]


@claim("masks#both")
def test_the_pad_id_is_0_by_default():
    ids = torch.tensor([[3, 0, 1]])
    assert padding_mask(ids).flatten().tolist() == [True, False, True]
    assert padding_mask(ids, pad_id=1).flatten().tolist() == [True, True, False]


# The causal mask


@claim("masks#causal-mask")
@few
@given(size=st.integers(1, 12))
def test_the_causal_mask_is_true_where_the_key_is_not_after_the_query(size):
    expected = [[key <= query for key in range(size)] for query in range(size)]
    assert causal_mask(size).tolist() == [[expected]]


# The future changes nothing


@claim("masks#causality")
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
@few
@given(seed=seeds, n=st.integers(1, 7))
def test_the_first_k_tokens_alone_give_the_first_k_outputs(seed, n):
    model = small_model()
    torch.manual_seed(seed)
    src, tgt = torch.randint(1, 9, (1, 4)), torch.randint(1, 12, (1, n))
    whole = model(src, tgt)
    for k in range(1, n + 1):
        assert_near(model(src, tgt[:, :k]), whole[:, :k], 1e-12)


@claim("masks#causality")
@mutation(
    "examples/masks/one_pass.py",
    "masked_fill(~mask",
    "masked_fill(mask",
    fault="the example hides the keys that may be attended to",
)
def test_one_pass_with_the_mask_gives_the_last_rows_of_three_passes_without(printed):
    shown = printed("examples", "one_pass")
    passes = [shown[f"last row of pass {i} equals row {i}"] for i in range(3)]
    assert passes == ["True"] * 3


@claim("masks#causality")
def test_without_a_mask_every_output_before_the_changed_token_changes(printed):
    shown = printed("examples", "causal")
    assert shown["causal mask"] == "[False, False, True]"
    assert shown["no mask"] == "[True, True, True]"


# Which mask


@claim("masks#which")
def test_each_attention_module_gets_the_mask_of_its_keys():
    model, given = small_model(), []
    layer = model.decoder.layers[1]
    attentions = model.encoder.layers[1].self_attention, layer.self_attention, layer.cross_attention
    for attention in attentions:
        attention.register_forward_pre_hook(lambda _, inputs: given.append(inputs))
    src, tgt = torch.tensor([[6, 7, 8, 0, 0]]), torch.tensor([[1, 4, 5, 0]])
    model(src, tgt)
    sizes = [(query.size(1), key.size(1)) for query, key, *_ in given]
    assert sizes == [(5, 5), (4, 4), (4, 5)]
    expected = padding_mask(src), causal_mask(4) & padding_mask(tgt), padding_mask(src)
    assert all(torch.equal(inputs[3], mask) for inputs, mask in zip(given, expected, strict=True))


# Exercises


@claim("masks#exercises")
def test_a_window_of_three_reaches_twice_as_far_in_two_layers(printed):
    assert printed("exercises", "window")["two layers reach"] == "[0, 1, 2, 3, 4]"
    window = [[i - 2 <= j <= i for j in range(6)] for i in range(6)]
    assert causal_mask(6).triu(-2)[0, 0].tolist() == window


@claim("masks#exercises")
def test_is_causal_with_one_query_sees_only_the_first_key(printed):
    shown = printed("exercises", "last_row")
    assert numbers(shown["one query, is_causal"]) == [1, 0, 0, 0, 0]
    assert shown["one query, our last row"] == shown["all five queries"]
    assert causal_mask(5)[:, :, -1:].all()


@claim("masks#exercises")
def test_padding_on_the_left_needs_positions_counted_from_the_first_token(printed):
    shown = printed("exercises", "left_padding")
    assert float(shown["positions from the left edge"]) > 0.1
    assert float(shown["positions from the first token"]) == 0


@claim("masks#exercises")
def test_without_positions_padding_on_the_left_changes_nothing():
    torch.manual_seed(0)
    encoder = Encoder(small_config()).double()
    embedding = TokenEmbedding(9, 16, padding_idx=0).double()
    right, left = torch.tensor([[6, 7, 0, 0]]), torch.tensor([[0, 0, 6, 7]])
    one = encoder(embedding(right), padding_mask(right))
    other = encoder(embedding(left), padding_mask(left))
    assert_near(one[:, :2], other[:, 2:], 1e-12)
