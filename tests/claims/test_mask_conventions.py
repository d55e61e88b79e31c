"""The claims of the page on mask conventions."""

import re
import warnings
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from attention_inputs import torch_copy
from evidence.comparisons import compare_padding
from helpers import DOCS, DTYPES, few, numbers, seeds
from marks import claim
from mask_helpers import HALVES, PATHS, assert_near, random_qkv, small_model
from transformer import (
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)

CHAPTER = "mask-conventions"
sizes = st.integers(1, 6)


@pytest.fixture(params=PATHS, ids=lambda path: path.__name__)
def attend(request):
    return request.param


# Conventions of other libraries: each row of the table


def read_table(language: str, anchor: str) -> list[list[str]]:
    """The cells of the first table in a section, without its header."""
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    section = page.split(f"{{ #{anchor} }}")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def from_ours(row: str, **names) -> torch.Tensor:
    """The value of the expression in this row's last column."""
    (cell,) = [cells[-1] for cells in read_table("en", "others") if cells[0] == row]
    (code,) = re.findall("`([^`]+)`", cell)
    return eval(code, {"torch": torch, **names})


SRC = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 8, 0, 0]])
TGT = torch.tensor([[1, 4, 5, 6], [1, 4, 5, 0]])


@claim("mask-conventions#others")
@pytest.mark.parametrize(
    "row",
    ["SDPA, `attn_mask`, boolean", "SDPA, `attn_mask`, float", "Hugging Face, extended"],
)
def test_row_of_a_mask_for_sdpa(row):
    query, key, value = random_qkv(2, 3, 4, 8, dtype=torch.float32)
    mask = causal_mask(4) & padding_mask(TGT)
    theirs = F.scaled_dot_product_attention(
        query, key, value, from_ours(row, mask=mask, dtype=query.dtype)
    )
    assert_near(theirs, scaled_dot_product_attention(query, key, value, mask)[0])


@claim("mask-conventions#others")
def test_row_of_a_mask_that_a_library_makes_itself():
    causal = causal_mask(5)
    mask = from_ours("SDPA, `is_causal=True`", causal=causal)
    query, key, value = random_qkv(2, 3, 5, 8)
    ours, _ = scaled_dot_product_attention(query, key, value, mask)
    assert_near(F.scaled_dot_product_attention(query, key, value, is_causal=True), ours, 1e-12)
    added = from_ours("`nn.Transformer.generate_square_subsequent_mask`", causal=causal)
    assert nn.Transformer.generate_square_subsequent_mask(5).equal(added)
    tokens = from_ours("Hugging Face, `attention_mask`", padding=padding_mask(SRC))
    assert tokens.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def both_modules(dtype=torch.float64) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Our module and theirs with the same weights."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4).to(dtype)
    return ours, torch_copy(ours)


@claim("mask-conventions#others")
@pytest.mark.parametrize(
    ("row", "name"),
    [
        ("`nn.MultiheadAttention`, `key_padding_mask`", "padding"),
        ("`nn.MultiheadAttention`, `attn_mask`, two axes", "causal"),
        ("`nn.MultiheadAttention`, `attn_mask`, three axes", "mask"),
    ],
)
def test_row_of_a_mask_for_multihead_attention(row, name, dtype):
    ours, theirs = both_modules(dtype)
    x = torch.randn(2, 5, 16, dtype=dtype)
    masks = {"padding": padding_mask(SRC), "causal": causal_mask(5)}
    masks["mask"] = masks["causal"] & masks["padding"]
    ignored = from_ours(row, **masks, b=2, h=4, n=5, m=5)
    argument = "key_padding_mask" if name == "padding" else "attn_mask"
    assert_near(theirs(x, x, x, **{argument: ignored})[0], ours(x, x, x, masks[name])[0])


@pytest.fixture(scope="module")
def two_models():
    """Our stacks and nn.Transformer with the same weights."""
    ours = small_model(norm_first=True)
    theirs = nn.Transformer(16, 4, 2, 2, 32, 0.0, batch_first=True, norm_first=True).double()
    layers = [*ours.encoder.layers, *ours.decoder.layers]
    for one, other in zip(layers, [*theirs.encoder.layers, *theirs.decoder.layers], strict=True):
        other.self_attn = torch_copy(one.self_attention)
        if hasattr(one, "cross_attention"):
            other.multihead_attn = torch_copy(one.cross_attention)
        other.linear1.load_state_dict(one.feed_forward.linear1.state_dict())
        other.linear2.load_state_dict(one.feed_forward.linear2.state_dict())
        for name, part in one.named_children():
            if name.startswith("norm"):
                other.get_submodule(name).load_state_dict(part.state_dict())
    theirs.encoder.norm.load_state_dict(ours.encoder.norm.state_dict())
    theirs.decoder.norm.load_state_dict(ours.decoder.norm.state_dict())
    return ours, theirs


ARGUMENTS = {
    "src_key_padding_mask": SRC,
    "memory_key_padding_mask": SRC,
    "tgt_key_padding_mask": TGT,
    "tgt_mask": TGT,
}


@claim("mask-conventions#others")
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
    assert_near(theirs(src, tgt, **masks)[real], expected)
    masks[argument] = ~masks[argument]  # our convention where theirs is expected
    wrong = theirs(src, tgt, **masks)[real]
    assert not torch.allclose(wrong, expected, atol=0.01)


@claim("mask-conventions#others", kind="measurement")
def test_the_table_has_no_row_without_a_test():
    english = [cells[0] for cells in read_table("en", "others")]
    assert len(english) == len(set(english)) == 13
    source = Path(__file__).read_text(encoding="utf-8")
    for row in english:
        argument = re.match("`nn.Transformer`, `(.*)`", row)
        assert argument[1] in ARGUMENTS if argument else f'"{row}"' in source, row
    chinese = read_table("zh", "others")
    code = re.compile("`([^`]+)`")
    for one, other in zip(read_table("en", "others"), chinese, strict=True):
        assert code.findall(" ".join(one)) == code.findall(" ".join(other))


@claim("mask-conventions#others")
def test_the_additive_form_is_equivalent_to_the_boolean_form(printed):
    shown = printed("examples", "conventions")
    for name in "boolean", "added, 0 or -inf", "added, 0 or lowest":
        assert float(shown[name]) == 0
    assert float(shown["inverted"]) > 1
    assert shown["masks are boolean, True may attend"] == "torch.float32"


@claim("mask-conventions#others")
def test_nn_multihead_attention_needs_our_masks_inverted_and_may_hide_it_if_they_are_not(printed):
    shown = printed("examples", "torch_nn")
    none, last = [0] * 5, [0] * 4 + [1]
    for name, rows in ("padding", [[1] * 5, none]), ("causal", [last, last]):
        assert shown[f"our {name} mask, need_weights=True, NaN at"] == str(rows)
        assert shown[f"our {name} mask, need_weights=False, NaN at"] == str([none, none])


@claim("mask-conventions#others", kind="measurement")
def test_an_inverted_key_padding_mask_is_silent_if_every_sentence_is_padded():
    _, theirs = both_modules()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    ids = torch.tensor([[6, 7, 8, 0, 0], [6, 0, 0, 0, 0]])
    right = theirs(x, x, x, key_padding_mask=ids == 0)[0]
    wrong = theirs(x, x, x, key_padding_mask=ids != 0)[0]
    assert wrong.isfinite().all() and not torch.allclose(right, wrong, atol=0.01)


@claim("mask-conventions#others", kind="measurement")
def test_mixing_boolean_and_float_masks_gives_a_warning_and_two_boolean_masks_give_none():
    _, theirs = both_modules(torch.float32)
    x = torch.randn(2, 5, 16)
    added = nn.Transformer.generate_square_subsequent_mask(5)
    with pytest.warns(UserWarning, match="mismatched"):
        theirs(x, x, x, key_padding_mask=SRC == 0, attn_mask=added)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs(x, x, x, key_padding_mask=SRC == 0, attn_mask=~causal_mask(5)[0, 0])


@claim("mask-conventions#others", kind="measurement")
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
    assert_near(fast[real], slow[real], 1e-5)
    assert not fast[ignored].any() and slow[ignored].any()


@claim("mask-conventions#others")
def test_masks_of_sentences_are_repeated_for_each_head(printed):
    shown = printed("examples", "heads_in_the_batch")
    assert float(shown["expand, (8, 5, 5)"]) == 0
    assert float(shown["repeat_interleave, (8, 5, 5)"]) == 0
    assert float(shown["repeat, (8, 5, 5)"]) > 0.1


# Why not minus a billion


@pytest.mark.slow
@claim("mask-conventions#others", kind="measurement")
def test_the_mask_functions_of_hugging_face_return_booleans_numbers_blocks_and_rows():
    pytest.importorskip("transformers")
    from transformers import masking_utils as library

    ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
    real = padding_mask(ids)[:, 0, 0]
    expected = causal_mask(5) & padding_mask(ids)
    function = library.and_masks(library.causal_mask_function, library.padding_mask_function(real))
    sizes = {"batch_size": 2, "q_length": 5, "kv_length": 5, "mask_function": function}
    booleans = library.sdpa_mask(**sizes, attention_mask=real)
    assert booleans.dtype == torch.bool and booleans.equal(expected)
    lowest = torch.finfo(torch.float32).min
    numbers = library.eager_mask(**sizes, attention_mask=real, dtype=torch.float32)
    assert numbers.equal((~expected).float() * lowest)
    assert library.flash_attention_mask(**sizes, attention_mask=real).equal(real)
    block = library.flex_attention_mask(**sizes, attention_mask=real)
    assert type(block).__name__ == "BlockMask"


@claim("mask-conventions#empty-rows", kind="measurement")
def test_a_fused_kernel_gives_zeros_for_a_row_of_minus_infinity_and_the_average_for_the_lowest():
    query, key, value = torch.randn(3, 1, 1, 4, 8)
    rows = {-torch.inf: 0 * value[0, 0, 0], torch.finfo(torch.float32).min: value[0, 0].mean(dim=0)}
    for fill, expected in rows.items():
        added = torch.zeros(4, 4)
        added[1] = fill
        output = F.scaled_dot_product_attention(query, key, value, added)
        assert_near(output[0, 0, 1], expected, 1e-5)


@claim("mask-conventions#finite-fill")
def test_minus_a_billion_does_not_fit_float16_and_fits_the_others(printed):
    shown = printed("examples", "half")
    assert "without overflow" in shown["torch.float16, -1e9"]
    assert shown["torch.float16 ends at"] == "-65504"
    del shown["torch.float16, -1e9"]
    assert {value for label, value in shown.items() if "ends" not in label} == {"fits"}


@claim("mask-conventions#finite-fill")
def test_in_float16_masked_fill_and_full_raise_and_other_ways_give_minus_infinity(printed):
    shown = printed("examples", "half_ways")
    for way in "masked_fill", "torch.full":
        assert "without overflow" in shown.pop(way)
    assert shown.keys() == {"torch.where", "assignment", "addition"}
    assert set(shown.values()) == {"[2.0, 1.0, -inf]"}


@claim("mask-conventions#finite-fill")
def test_a_number_added_to_a_whole_row_hides_nothing_and_two_lowest_numbers_overflow(printed):
    shown = printed("examples", "leaks")
    assert shown["all forbidden, -1e+04 added"] == shown["no mask"]
    assert numbers(shown["all forbidden, -1e+09 added"]) == [0.33] * 3
    assert shown["two masks added"] == "[-inf, -inf, -inf]"
    billion = torch.tensor(-1e9)
    assert (billion + 31).eq(billion) and (billion + 33).ne(billion)


@claim("mask-conventions#finite-fill")
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
    assert_near(weights.float().sum(), mask.any().float(), 0.01)


@claim("mask-conventions#finite-fill")
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_in_our_attention_allowed_keys_get_all_the_weight_even_with_low_scores(dtype):
    query, key = torch.ones(1, 1, dtype=dtype), torch.tensor([[-20000.0], [-20000.0], [0.0]])
    mask = torch.tensor([[True, True, False]])
    _, weights = scaled_dot_product_attention(query, key.to(dtype), key.to(dtype), mask)
    assert weights.tolist() == [[0.5, 0.5, 0]]


def infinite_attention(query, key, value, mask):
    """Attention that fills with −∞, and then with zeros."""
    scores = (query @ key.T / 2).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights @ value, weights


@claim("mask-conventions#finite-fill")
@pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected")
def test_minus_infinity_with_a_second_fill_is_equal_to_ours_but_stops_anomaly_detection():
    mask = torch.tensor([[False, False], [True, False]])
    results = []
    for attend in infinite_attention, scaled_dot_product_attention:
        inputs = [x.requires_grad_() for x in random_qkv(2, 4)]
        output, weights = attend(*inputs, mask)
        results.append([weights, *torch.autograd.grad(output.square().sum(), inputs)])
    for one, other in zip(*results, strict=True):
        assert_near(one, other, 1e-12)
    with torch.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match="nan values"):
            infinite_attention(*inputs, mask)[0].square().sum().backward()
        scaled_dot_product_attention(*inputs, mask)[0].square().sum().backward()


# Rows with no allowed key


@claim("mask-conventions#empty-rows")
def test_a_row_with_no_allowed_key_is_uniform_or_nan_or_zeros(printed):
    shown = printed("examples", "empty_rows")
    assert numbers(shown["-1000000000.0"]) == [0.33] * 3
    assert shown["-inf"] == "[nan nan nan]"
    assert shown["ours"] == "[0. 0. 0.]"
    theirs = {label: value for label, value in shown.items() if label.startswith("torch.nn")}
    zeros = theirs.pop("torch.nn, training=True, need_weights=False")
    assert numbers(zeros) == [0] * 4
    assert set(theirs.values()) == {"[nan, nan, nan, nan]"} and len(theirs) == 3


@claim("mask-conventions#empty-rows")
@pytest.mark.parametrize("dtype", [*DTYPES, *HALVES], ids=str)
def test_a_row_with_no_allowed_key_gives_zeros_on_both_paths(attend, dtype):
    query, key, value = random_qkv(2, 3, 4, 8, dtype=dtype)
    mask = causal_mask(4).tril(-1)  # row 0 is empty
    output, weights = attend(query, key, value, mask)
    assert not output[:, :, 0].any()
    assert output[:, :, 1:].isfinite().all() and output[:, :, 1:].any()
    if weights is not None:
        assert not weights[:, :, 0].any()


@claim("mask-conventions#empty-rows")
def test_under_the_causal_mask_padding_on_the_left_makes_empty_rows_and_on_the_right_none():
    left, right = torch.tensor([[0, 0, 6]]), torch.tensor([[6, 0, 0]])
    assert (causal_mask(3) & padding_mask(left)).any(dim=-1).flatten().tolist() == [0, 0, 1]
    assert (causal_mask(3) & padding_mask(right)).any(dim=-1).all()


@claim("mask-conventions#empty-rows")
def test_an_empty_row_leaves_only_the_bias_of_the_output_layer():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(1, 3, 16)
    nothing = torch.zeros(1, 1, 3, 3, dtype=torch.bool)
    for need_weights in True, False:
        output, _ = attention(x, x, x, nothing, need_weights)
        assert_near(output, attention.output.bias.expand(1, 3, 16))


@claim("mask-conventions#empty-rows")
@few
@given(seed=seeds, share=st.sampled_from([0.2, 0.5, 1.0]))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_both_paths_agree_and_so_do_their_gradients_with_empty_rows_too(dtype, seed, share):
    torch.manual_seed(seed)
    mask = torch.rand(2, 1, 4, 4) > share
    results = []
    for attend in PATHS:
        inputs = [x.requires_grad_() for x in random_qkv(2, 3, 4, 8, dtype=dtype, seed=seed)]
        output, _ = attend(*inputs, mask)
        results.append([output, *torch.autograd.grad(output.square().sum(), inputs)])
    for one, other in zip(*results, strict=True):
        assert one.isfinite().all()
        assert_near(one, other, 1e-5)
    blind = ~mask.any(dim=-1).expand(2, 3, 4)
    for output, of_query, _, _ in results:
        assert not output[blind].any() and not of_query[blind].any()


# More padding, same result


@claim("mask-conventions#padding-invariance")
@few
@given(seed=seeds, b=st.integers(1, 3), n=sizes, pads=sizes)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_more_padding_on_the_right_changes_no_real_position_of_the_encoder(dtype, seed, b, n, pads):
    model = small_model(dtype)
    torch.manual_seed(seed)
    ids = torch.randint(1, 9, (b, n))
    padded = F.pad(ids, (0, pads))
    assert_near(
        model.encode(padded)[:, :n], model.encode(ids), 1e-5 if dtype == torch.float32 else 1e-12
    )


@claim("mask-conventions#padding-invariance")
@few
@given(seed=seeds, src_pads=sizes, tgt_pads=sizes, norm_first=st.booleans())
def test_more_padding_in_source_or_target_changes_no_logit_of_a_real_token(
    seed, src_pads, tgt_pads, norm_first
):
    model = small_model(norm_first=norm_first)
    torch.manual_seed(seed)
    src, tgt = torch.randint(1, 9, (2, 4)), torch.randint(1, 12, (2, 3))
    compare_padding(model, src, tgt, (src_pads, tgt_pads))


@claim("mask-conventions#padding-invariance")
def test_without_a_mask_the_result_depends_on_the_number_of_pads(printed):
    shown = printed("examples", "padding_invariance")
    for pads in 1, 3, 10:
        assert float(shown[f"pads {pads}, mask"]) == 0
    moved = [float(shown[f"pads {pads}, no mask"]) for pads in (1, 3, 10)]
    assert moved == sorted(moved) and moved[0] > 1


@claim("mask-conventions#padding-invariance")
@few
@given(seed=seeds, n=sizes, pads=sizes)
def test_the_causal_mask_alone_hides_padding_on_the_right_from_real_tokens(seed, n, pads):
    query, key, value = random_qkv(1, 2, n + pads, 4, seed=seed)
    ids = F.pad(torch.ones(1, n, dtype=torch.int64), (0, pads))
    causal = causal_mask(n + pads)
    one, _ = scaled_dot_product_attention(query, key, value, causal)
    other, _ = scaled_dot_product_attention(query, key, value, causal & padding_mask(ids))
    assert torch.equal(one[:, :, :n], other[:, :, :n])


@claim("mask-conventions#cross")
def test_without_a_memory_mask_the_decoder_reads_the_pads_of_the_source(printed):
    shown = printed("examples", "cross")
    assert shown["shape"] == "(1, 1, 1, 5)"
    assert float(shown["mask"]) == 0
    assert float(shown["no mask"]) > 0.1


# NaN in pads


@claim("mask-conventions#nan-in-pads")
@pytest.mark.parametrize("bad", [float("nan"), float("inf")], ids=str)
def test_a_mask_cannot_hide_a_non_finite_value(bad):
    query, key, value = random_qkv(2, 4)
    value[1] = bad
    mask = torch.tensor([[True, False], [True, False]])
    output, _ = scaled_dot_product_attention(query, key, value, mask)
    assert output.isnan().all()


# A mask that fits by accident


@claim("mask-conventions#accident")
def test_an_n_by_n_mask_with_a_missing_batch_axis_applies_to_the_heads_if_there_are_n_heads():
    n = 5
    query, key, value = random_qkv(2, n, n, 4)
    _, weights = scaled_dot_product_attention(query, key, value, causal_mask(n)[0, 0].unsqueeze(1))
    for head in range(n):
        seen = weights[:, head] > 0
        assert seen[..., : head + 1].all() and not seen[..., head + 1 :].any()
    with pytest.raises(RuntimeError, match="sizes"):  # the length is not the number of heads
        scaled_dot_product_attention(query, key, value, causal_mask(4)[0, 0].unsqueeze(1))


@claim("mask-conventions#accident")
def test_a_padding_mask_with_missing_axes_applies_to_the_queries_if_b_is_n():
    query, key, value = random_qkv(3, 2, 3, 4)
    pads = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0]]).bool()
    _, weights = scaled_dot_product_attention(query, key, value, pads)
    assert (weights > 0).equal(pads.expand(3, 2, 3, 3))  # the query's row, not the sentence's


@claim("mask-conventions#accident")
def test_masks_with_all_their_axes_fit_only_the_right_tensor():
    query = torch.randn(2, 3, 5, 4)
    key = torch.randn(2, 3, 7, 4)
    padding = padding_mask(torch.ones(2, 7, dtype=torch.int64))
    scaled_dot_product_attention(query, key, key, padding)
    for wrong in causal_mask(5), causal_mask(7), padding.squeeze(), padding.transpose(0, 1):
        with pytest.raises(RuntimeError, match="sizes"):
            scaled_dot_product_attention(query, key, key, wrong)


# Inverted masks go unnoticed


@claim("mask-conventions#inverted")
def test_an_inverted_causal_mask_sees_only_the_future(printed):
    shown = printed("examples", "inverted")
    assert numbers(shown["inverted, weights of the first token"])[0] == 0
    assert numbers(shown["inverted, weights of the last token"]) == [0] * 5
    assert shown["right, outputs before the change stay"] == "True"
    assert shown["inverted, outputs before the change stay"] == "False"


def additive_attention(fill):
    """Attention with an additive mask, `fill` where the boolean mask is False."""

    def attend(query, key, value, mask):
        weights = (query @ key.transpose(-2, -1) / 2 + ~mask * fill).softmax(dim=-1)
        return weights @ value, weights

    return attend


N = 4  # sentences, heads and tokens, so that the accidents happen
ORDER = torch.ones(1, 1, N, N, dtype=torch.bool).tril()
PADS = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]).bool()
PADDING = PADS[:, None, None]
NOTHING = torch.zeros(1, 1, N, N, dtype=torch.bool)
MISTAKES = {
    "no mask": (scaled_dot_product_attention, ORDER, torch.ones_like(ORDER)),
    "inverted": (scaled_dot_product_attention, ORDER, ~ORDER),
    "on the axis of the heads, n = h": (scaled_dot_product_attention, ORDER, ORDER[0, 0, :, None]),
    "sentences on the axis of the queries, b = n": (scaled_dot_product_attention, PADDING, PADS),
    "triangle without its diagonal": (scaled_dot_product_attention, ORDER, ORDER.tril(-1)),
    "all False": (scaled_dot_product_attention, ORDER, NOTHING),
    "−1e4 added to a whole row": (additive_attention(-1e4), NOTHING, NOTHING),
    "−1e4 or −1e9 added, other rows, moderate scores": (additive_attention(-1e4), ORDER, ORDER),
}


def passed_checks(attend, meant, given) -> tuple[bool, bool, bool, bool]:
    """Whether the shape is right, all is finite, hidden tokens change nothing, allowed ones do."""
    query, key, value = random_qkv(N, N, N, 4)
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


@claim("mask-conventions#inverted")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_check_in_the_table_catches_the_mistakes_that_the_table_says(mistake):
    row = list(MISTAKES).index(mistake)
    english, chinese = (read_table(language, "inverted")[row] for language in ("en", "zh"))
    passes = passed_checks(*MISTAKES[mistake])
    assert english == [mistake, *("passes" if each else "caught" for each in passes)]
    assert chinese[1:] == ["通过" if each else "查出" for each in passes]
    assert len(read_table("en", "inverted")) == len(MISTAKES)


@claim("mask-conventions#inverted", kind="mathematics")
@pytest.mark.parametrize("fill", [-1e4, -1e9])
def test_an_added_fill_passes_with_moderate_scores_and_not_with_large_ones(fill):
    def large(query, key, value, mask):
        return additive_attention(fill)(query, key * 1e10, value, mask)

    assert passed_checks(additive_attention(fill), ORDER, ORDER) == (True,) * 4
    assert not passed_checks(large, ORDER, ORDER)[2]


@claim("mask-conventions#inverted")
def test_each_allowed_token_moves_the_output_and_no_hidden_one_does(attend):
    for meant, mask in (ORDER, causal_mask(N)), (PADDING, padding_mask(PADS.long())):
        assert passed_checks(attend, meant, mask) == (True,) * 4
