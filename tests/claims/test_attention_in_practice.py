"""The claims of the page on attention in practice."""

import contextlib
import json
import math
import runpy
import statistics
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

import transformer
from attention_inputs import PATHS, dtypes, lower_triangle, random_mask, random_qkv, sizes
from evidence.comparisons import compare_fused_attention
from helpers import ROOT, SNIPPETS, close, few, measured, normal, seeds
from marks import claim
from transformer import MultiHeadAttention, initialize, scaled_dot_product_attention
from translator import code_key
from variants.online_softmax import attention_by_blocks

CHAPTER = "attention-in-practice"


@pytest.fixture(params=list(PATHS))
def attend(request):
    return PATHS[request.param]


# A product is not a distance


@claim("attention-in-practice#not-closeness")
def test_a_long_distant_key_beats_a_key_equal_to_the_query(printed):
    shown = printed("examples", "not_closeness")
    assert shown["the same vector, distance"] == "0.0"
    assert float(shown["a long vector, distance"]) > 6
    assert float(shown["a long vector, weight"]) > 0.95


@claim("attention-in-practice#not-closeness")
@few
@given(seed=seeds, m=sizes, d=sizes)
def test_among_keys_of_equal_length_the_closest_gets_the_most_weight(seed, m, d):
    query, key, value = random_qkv(seed, 1, m, d, d)
    key = F.normalize(key, dim=-1)
    _, weights = scaled_dot_product_attention(query, key, value)
    distances = (query - key).norm(dim=-1)
    closest = distances.argmin(dim=-1, keepdim=True)
    most = weights[..., 0, :].gather(-1, closest)
    assert_close(most, weights[..., 0, :].amax(dim=-1, keepdim=True))


@claim("attention-in-practice#not-closeness")
@few
@given(seed=seeds, m=st.integers(2, 6), d=sizes, factor=st.floats(1.1, 4))
def test_a_longer_query_keeps_the_order_and_sharpens_the_weights(seed, m, d, factor):
    query, key, value = random_qkv(seed, 1, m, d, d)
    _, before = scaled_dot_product_attention(query, key, value)
    _, after = scaled_dot_product_attention(query * factor, key, value)
    assert torch.equal(before.argsort(dim=-1), after.argsort(dim=-1))
    assert (after.amax(dim=-1) > before.amax(dim=-1)).all()


# Why the root


def without_the_division():
    """A context in which MultiHeadAttention doesn't divide its scores."""

    def undivided(q, k, v, mask=None, dropout=0.0):
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, scale=1.0), None

    return mock.patch.object(transformer, "fused_attention", undivided)


def weight_gradients(attention, x, upstream, divided):
    """The gradients of W_Q and W_K."""
    with contextlib.nullcontext() if divided else without_the_division():
        output = attention(x, x, x)[0]
    return torch.autograd.grad(output, [attention.query.weight, attention.key.weight], upstream)


@claim("attention-in-practice#scaling-measured")
@pytest.mark.parametrize("nhead", [64, 8, 1], ids=lambda nhead: f"d_k={512 // nhead}")
def test_without_the_division_the_gradients_of_w_q_and_w_k_are_larger(nhead):
    for seed in range(3):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(512, nhead).apply(initialize)
        for n, bound in (16, 2), (64, 3), (256, 5):
            x, upstream = torch.randn(2, 1, n, 512)
            with_it, without = (weight_gradients(attention, x, upstream, d) for d in (True, False))
            for one, other in zip(with_it, without, strict=True):
                assert other.norm() > bound * one.norm()


@claim("attention-in-practice#scaling-measured", kind="mathematics")
def test_with_d_k_512_and_16_tokens_half_of_the_queries_get_almost_no_gradient():
    torch.manual_seed(0)
    query, key, value, upstream = torch.randn(4, 8, 16, 512, requires_grad=True)
    medians = []
    for scale in 512**-0.5, 1.0:
        output = F.scaled_dot_product_attention(query, key, value, scale=scale)
        (gradient,) = torch.autograd.grad(output, query, upstream)
        medians.append(gradient.norm(dim=-1).median())
    assert medians[1] < 0.1 * medians[0]


@claim("attention-in-practice#scaling-measured")
def test_xavier_uniform_projections_start_with_scores_of_variance_one(printed):
    shown = printed("examples", "at_the_start")
    assert shown["scores, Xavier-uniform"] == "1.0"
    assert shown["scores, nn.Linear as it comes"] == "0.1"


@claim("attention-in-practice#scaling-measured", kind="mathematics")
def test_with_d_k_512_and_three_tokens_the_gradient_of_w_q_is_smaller_without_the_division():
    ratios = []
    for seed in range(9):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(512, 1).apply(initialize)
        x, upstream = torch.randn(2, 1, 3, 512)
        with_it, without = (weight_gradients(attention, x, upstream, d)[0] for d in (True, False))
        ratios.append((without.norm() / with_it.norm()).item())
    assert statistics.median(ratios) < 0.5


# What training without the root measures


@pytest.fixture(scope="module")
def scaling_results() -> dict:
    return measured("scaling")[1]


def steps_of(scaling_results, **settings) -> list[float]:
    """Until nine of ten answers are right; infinite for a run that never gets there."""
    runs = [
        run
        for run in scaling_results["runs"]
        if all(run[name] == x for name, x in settings.items())
    ]
    return [run["nine of ten after"] or math.inf for run in runs]


@claim("attention-in-practice#scaling-measured", kind="measurement")
def test_in_whole_models_every_gradient_of_w_q_is_larger_without_the_division(scaling_results):
    medians = []
    for layers in 1, 2, 6:
        found = [each for each in scaling_results["gradients"] if each["layers"] == layers]
        ratios = [ratio for each in found for ratio in each["ratios"]]
        assert min(ratios) > 2
        medians.append(statistics.median(ratios))
    assert medians == sorted(medians)


@claim("attention-in-practice#scaling-measured", kind="measurement")
def test_without_the_division_every_training_run_takes_longer_and_more_so_the_larger_d_k(
    scaling_results,
):
    slowdown = []
    for d_k in 8, 64, 256:
        for rate in 3e-4, 1e-3, 3e-3:
            divided, undivided = (
                steps_of(scaling_results, layers=0, d_k=d_k, rate=rate, variant=variant)
                for variant in ("divided", "not divided")
            )
            assert max(divided) < min(undivided)
            if rate == 1e-3:
                slowdown.append(statistics.median(undivided) / statistics.median(divided))
    assert 1.1 < slowdown[0] < slowdown[1] < slowdown[2]


@claim("attention-in-practice#scaling-measured", kind="measurement")
def test_a_small_start_without_the_division_is_as_fast_at_the_lowest_rate_and_fails_at_a_high_one(
    scaling_results,
):
    for d_k in 8, 64, 256:
        medians = {
            variant: statistics.median(
                steps_of(scaling_results, layers=0, d_k=d_k, rate=3e-4, variant=variant)
            )
            for variant in ("divided", "not divided", "smaller W_Q")
        }
        assert min(medians, key=medians.get) == "smaller W_Q"
    high = {"layers": 0, "d_k": 256, "rate": 3e-3}
    assert max(steps_of(scaling_results, **high, variant="divided")) < 50
    for variant in "not divided", "smaller W_Q":
        assert min(steps_of(scaling_results, **high, variant=variant)) == math.inf


@claim("attention-in-practice#scaling-measured", kind="measurement")
def test_deeper_encoders_need_the_division_more(scaling_results, printed):
    right = {
        (layers, variant): [
            run["right"]
            for run in scaling_results["runs"]
            if (run["layers"], run["variant"]) == (layers, variant)
        ]
        for layers in (1, 2, 6)
        for variant in ("divided", "not divided")
    }
    assert all(min(right[layers, "divided"]) > 0.95 for layers in (1, 2, 6))
    one, two, six = (right[layers, "not divided"] for layers in (1, 2, 6))
    assert max(one) < 0.85 and min(one) > max(two) and min(two) > max(six)
    guess = int(printed("examples", "scaling")["guess, value of a random pair"][:-1]) / 100
    assert max(six) < guess and min(one) > 4 * guess


# Numerics


@claim("attention-in-practice#numerics", kind="measurement")
def test_in_float32_a_score_far_below_the_largest_gets_the_weight_zero():
    for difference, positive in (100, True), (110, False):
        weights = torch.tensor([0.0, -difference]).softmax(dim=-1)
        assert (weights[1] > 0) == positive


@claim("attention-in-practice#numerics")
def test_a_mask_that_is_not_boolean_or_does_not_broadcast_is_rejected(attend):
    query, key, value = random_qkv(0, 4, 5, 8, 6)
    for dtype in torch.float32, torch.int64:
        with pytest.raises(ValueError, match=f"masks are boolean, True may attend: {dtype}"):
            attend(query, key, value, torch.ones(4, 5, dtype=dtype))
    for shape in (5, 4), (1, 2, 3, 4, 5):
        with pytest.raises(RuntimeError, match="sizes"):
            attend(query, key, value, torch.ones(shape, dtype=torch.bool))


# Dropout


@claim("attention-in-practice#dropout")
def test_dropout_affects_the_weights_that_are_used_and_not_the_weights_that_are_returned():
    query, key, value = random_qkv(0, 50, 50, 8, 8)
    plain, expected = scaled_dot_product_attention(query, key, value)
    dropped, weights = scaled_dot_product_attention(query, key, value, dropout=0.5)
    assert torch.equal(weights, expected)
    assert (dropped - plain).abs().max() > 0.1


@claim("attention-in-practice#dropout")
def test_dropout_keeps_the_expected_output(attend):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 1, 8, dtype=torch.float64).expand(3, 20_000, 1, 8)
    value = torch.ones_like(value)
    output = attend(query, key, value, dropout=0.5)[0]
    assert set(output.unique().tolist()) == {0.0, 2.0}
    assert output[..., 0].mean().item() == pytest.approx(1, abs=0.03)


@claim("attention-in-practice#dropout")
@pytest.mark.parametrize("need_weights", [True, False])
def test_weights_are_dropped_out_only_in_training(need_weights):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 2, dropout=0.5)
    x = torch.randn(2, 5, 16)

    def run():
        return attention(x, x, x, need_weights=need_weights)[0]

    assert not torch.allclose(run(), run())
    attention.eval()
    assert torch.equal(run(), run())


# The fused path


@claim("attention-in-practice#cost")
@few
@given(seed=seeds, n=sizes, m=sizes, d_k=sizes, d_v=sizes, dtype=dtypes, masked=st.booleans())
def test_fused_and_explicit_attention_are_equal(seed, n, m, d_k, d_v, dtype, masked):
    tensors = random_qkv(seed, n, m, d_k, d_v, dtype)
    mask = random_mask(n, m) if masked else None
    compare_fused_attention(tensors, mask)


@claim("attention-in-practice#cost", kind="measurement")
def test_fused_attention_needs_linear_memory_and_quadratic_time(printed):
    shown = printed("examples", "cost")
    assert 3.5 < float(shown["explicit, memory at twice the length"]) < 4.5
    assert 1.5 < float(shown["fused, memory at twice the length"]) < 2.5
    for path in PATHS:
        assert 3 < float(shown[f"{path}, time at twice the length"]) < 5


@claim("attention-in-practice#cost")
def test_the_fused_path_stores_no_weights_without_dropout_and_stores_them_with_it_on_a_cpu(printed):
    shown = printed("examples", "fused_or_not")
    assert shown["largest tensor stored, dropout 0.0"] == shown["queries"] == "262,144"
    assert shown["largest tensor stored, dropout 0.1"] == shown["weights"] == "2,097,152"
    assert shown["is_causal is the causal mask"] == "True"


@claim("attention-in-practice#cost", kind="measurement")
def test_the_cuda_kernel_of_flash_attention_takes_dropout_but_no_mask():
    schema = torch.ops.aten._scaled_dot_product_flash_attention.default._schema
    names = {argument.name for argument in schema.arguments}
    assert {"dropout_p", "is_causal"} <= names
    assert not names & {"attn_mask", "attn_bias"}


@claim("attention-in-practice#cost", kind="measurement")
def test_the_measured_cost_is_of_the_current_code():
    recorded = json.loads((SNIPPETS / "results" / "attention.json").read_text())
    sources = ROOT / "scripts/experiments/attention.py", SNIPPETS / "transformer.py"
    assert recorded["key"] == code_key(*sources), "stale; run scripts/experiment attention"


@claim("attention-in-practice#cost")
def test_at_length_twice_d_model_the_pairs_cost_as_much_as_the_linear_layers(printed):
    shown = printed("examples", "multiplications")
    assert shown["1024 tokens, share of the pairs"] == "50.0%"
    assert float(shown["5 tokens, share of the pairs"].rstrip("%")) < 1


# nn.MultiheadAttention


@claim("attention-in-practice#torch-nn")
def test_masks_of_nn_multihead_attention_are_the_opposite_of_ours_and_of_those_of_sdpa(printed):
    shown = printed("examples", "torch_nn")
    seen = [float(weight) for weight in shown["given our mask, token 0 sees"].split()]
    assert seen[0] == 0 and all(weight > 0 for weight in seen[1:])
    query, key, value = random_qkv(0, 4, 4, 8, 8)
    same = F.scaled_dot_product_attention(query, key, value, lower_triangle(4))
    assert_close(same, scaled_dot_product_attention(query, key, value, lower_triangle(4))[0])


@claim("attention-in-practice#torch-nn")
def test_a_query_with_no_key_gets_nan_or_the_output_bias_in_torch_nn(printed):
    shown = printed("examples", "no_key_torch_nn")
    assert list(shown.values()) == ["NaN", *["the bias of the output map"] * 2, "NaN"]


@claim("attention-in-practice#torch-nn", kind="measurement")
@pytest.mark.parametrize(
    "changed",
    [{}, {"batch_first": False}, {"num_heads": 1}, {"cross": True}, {"float_mask": True}],
)
def test_the_fast_path_needs_self_attention_batch_first_a_boolean_mask_and_even_heads(changed):
    torch.manual_seed(0)
    heads, batch_first = changed.get("num_heads", 4), changed.get("batch_first", True)
    attention = nn.MultiheadAttention(16, heads, batch_first=batch_first).eval()
    x = torch.randn((1, 5, 16) if batch_first else (5, 1, 16))
    other = x.clone() if "cross" in changed else x
    mask = lower_triangle(5)
    if "float_mask" in changed:
        mask = torch.zeros(5, 5).masked_fill(mask, -math.inf)
    with torch.no_grad():
        output, _ = attention(x, other, other, attn_mask=mask, need_weights=False)
    assert output.flatten(0, 1)[-1].isnan().all() == (not changed)


@claim("attention-in-practice#numerics", kind="measurement")
def test_after_a_nan_the_embeddings_of_other_tokens_are_finite_unless_gradients_are_clipped():
    for clipped in False, True:
        torch.manual_seed(0)
        model = transformer.Transformer(transformer.TransformerConfig(10_000, 10_000, 32, 4, 1, 1))
        optimizer = torch.optim.Adam(model.parameters())
        src, tgt = torch.randint(3, 10_000, (2, 4, 10))
        (model(src, tgt).sum() * math.nan).backward()
        if clipped:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for embedding, ids in (model.src_embedding, src), (model.tgt_embedding, tgt):
            used = torch.zeros(10_000, dtype=torch.bool)
            used[ids.flatten()] = True
            assert embedding.embedding.weight.isnan().all(dim=-1).equal(used | clipped)
        others = [each for name, each in model.named_parameters() if "embedding" not in name]
        share = torch.cat([each.flatten() for each in others]).isnan().float().mean().item()
        assert share == 1 if clipped else share > 0.95


@claim("attention-in-practice#batch-first")
def test_without_batch_first_sentences_see_each_other_in_torch_nn(printed):
    shown = printed("examples", "batch_first")
    assert shown["ours, change"] == shown["nn, batch_first=True, change"] == "0.00"
    assert float(shown["nn as it comes, change"]) > 0.5
    outputs = [value for label, value in shown.items() if label.endswith("output")]
    assert set(outputs) == {"(2, 5, 32)"}
    assert shown["nn as it comes, weights"] == "(5, 2, 2)"


@claim("attention-in-practice#batch-first", kind="measurement")
def test_with_as_many_sentences_as_positions_the_shape_does_not_show_the_wrong_order():
    for sentences, same in (2, False), (5, True):
        x = torch.randn(sentences, 5, 8)
        shapes = [
            nn.MultiheadAttention(8, 2, batch_first=first)(x, x, x)[1].shape
            for first in (False, True)
        ]
        assert (shapes[0] == shapes[1]) is same


@claim("attention-in-practice#torch-nn", kind="measurement")
def test_torch_nn_stores_one_input_matrix_unless_keys_or_values_have_another_size():
    assert nn.MultiheadAttention(8, 2).in_proj_weight.shape == (24, 8)
    for other in {"kdim": 4}, {"vdim": 4}:
        assert nn.MultiheadAttention(8, 2, **other).in_proj_weight is None


class NewTensors(TorchDispatchMode):
    """Keeps what is computed; a view has the storage of another tensor."""

    def __init__(self):
        super().__init__()
        self.tensors = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        output = function(*args, **(kwargs or {}))
        if isinstance(output, torch.Tensor):
            self.tensors[output.untyped_storage().data_ptr()] = output
        return output


@claim("attention-in-practice#cost")
def test_explicit_attention_makes_three_tables_and_five_with_a_mask():
    query, key, value = torch.randn(3, 1, 2, 64, 8)
    for mask, expected in (None, 3), (lower_triangle(64), 5):
        with NewTensors() as new:
            scaled_dot_product_attention(query, key, value, mask)
        new = [each for each in new.tensors.values() if each.is_floating_point()]
        assert len([each for each in new if each.shape[-2:] == (64, 64)]) == expected


@claim("attention-in-practice#scaling-measured", kind="mathematics")
def test_divided_by_d_k_itself_the_weights_are_almost_equal_only_if_d_k_is_large():
    torch.manual_seed(0)
    for d_k, low, high in (2, 4, 5), (512, 1, 1.15):
        query, key = torch.randn(500, 1, d_k), torch.randn(500, 64, d_k)
        weights = (query @ key.mT / d_k).softmax(dim=-1)
        assert low < 64 * weights.amax(dim=-1).mean() < high


# Heads


@claim("attention-in-practice#two-neighbors")
def test_behind_one_head_a_feed_forward_network_names_neighbors_that_a_linear_map_does_not(printed):
    shown = printed("examples", "two_neighbors")
    right = {label.removesuffix(", right"): int(value[:-1]) for label, value in shown.items()}
    assert right["guessing"] == round(100 / 9)
    assert 50 < right["linear map, nhead = 1"] < 75
    assert right["feed-forward, nhead = 1"] > 95
    assert right["linear map, nhead = 2"] == right["feed-forward, nhead = 2"] == 100


@claim("attention-in-practice#two-neighbors")
def test_one_of_two_heads_looks_right_and_the_other_left_and_one_head_is_uneven(capsys):
    trained = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "two_neighbors.py"))["trained"]
    weights = trained["linear map", 2][1]
    middle = [[head[i].argmax().item() - i for i in (1, 2, 3)] for head in weights]
    assert sorted(middle) == [[-1, -1, -1], [1, 1, 1]]
    (alone,) = trained["feed-forward", 1][1]
    for i in (1, 2, 3):  # the left neighbor has the larger weight
        assert 1.5 < alone[i, i - 1] / alone[i, i + 1] < 4


@claim("attention-in-practice#low-rank")
@pytest.mark.parametrize("nhead", [1, 4])
def test_the_output_is_a_sum_of_low_rank_maps_one_per_head(nhead):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, nhead).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    output, weights = attention(x, x, x, need_weights=True)
    to_value = attention.value.weight.chunk(nhead)
    from_head = attention.output.weight.chunk(nhead, dim=1)
    total = attention.output(attention.value.bias).expand_as(output)
    for head in range(nhead):
        carried = from_head[head] @ to_value[head]
        assert torch.linalg.matrix_rank(carried) == 16 // nhead
        total = total + weights[:, head] @ x @ carried.T
    assert_close(total, output)


@claim("attention-in-practice#low-rank")
def test_the_order_of_the_heads_changes_nothing():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    before = attention(x, x, x)[0]
    order = torch.tensor([2, 0, 3, 1])
    with torch.no_grad():
        for part in (attention.query, attention.key, attention.value):
            part.weight.copy_(part.weight.unflatten(0, (4, 4))[order].flatten(0, 1))
            part.bias.copy_(part.bias.unflatten(0, (4, 4))[order].flatten())
        columns = attention.output.weight.unflatten(1, (4, 4))[:, order].flatten(1)
        attention.output.weight.copy_(columns)
    assert_close(attention(x, x, x)[0], before)


@claim("attention-in-practice#low-rank")
def test_with_one_head_the_output_matrix_can_be_left_out():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 1).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    before = attention(x, x, x)[0]
    with torch.no_grad():
        attention.value.bias.copy_(attention.output(attention.value.bias))
        attention.value.weight.copy_(attention.output.weight @ attention.value.weight)
    attention.output = nn.Identity()
    assert_close(attention(x, x, x)[0], before)


@claim("attention-in-practice#trained-head")
def test_the_question_mark_looks_most_at_the_first_word_in_one_trained_head(printed):
    shown = printed("examples", "trained_head")
    shares = [
        int(shown[f"head {head}, ? looks most at the first word"].rstrip("%")) for head in range(4)
    ]
    guess = int(shown["a word at random is the first word"].rstrip("%"))
    assert guess < 20 and shares[2] == max(shares) > 80
    assert 3 * guess < shares[3] == min(shares) < 60
    assert int(shown["head 2, if the first word is a question word"].rstrip("%")) > 95
    assert int(shown["head 2, if the first word is a verb"].rstrip("%")) < 50


# Attention by blocks


@claim("attention-in-practice#cost")
@pytest.mark.parametrize("block", [3, 100])
def test_attention_by_blocks_equals_softmax_over_all_keys(block):
    q, k, v = 5 * normal(2, 4, 32, 8), normal(2, 4, 32, 8, seed=1), normal(2, 4, 32, 6, seed=2)
    expected = (q @ k.mT / math.sqrt(8)).softmax(dim=-1) @ v
    close(attention_by_blocks(q, k, v, block), expected, 1e-12)


@claim("attention-in-practice#cost")
def test_attention_by_blocks_makes_at_most_block_scores_for_each_query():
    q, k, v = torch.randn(200, 4), torch.randn(300, 4), torch.randn(300, 4)
    with NewTensors() as new:
        attention_by_blocks(q, k, v, 64)
    assert max(tensor.numel() for tensor in new.tensors.values()) == 200 * 64
