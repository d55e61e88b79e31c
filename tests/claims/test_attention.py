"""The claims of the chapter on attention."""

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

import transformer
from comparisons import compare_attention, compare_fused_attention
from helpers import DOCS, ROOT, SNIPPETS, few, seeds
from marks import claim, mutation
from transformer import (
    MultiHeadAttention,
    fused_attention,
    initialise,
    scaled_dot_product_attention,
)
from translator import code_key

CHAPTER = "attention"
PATHS = {"explicit": scaled_dot_product_attention, "fused": fused_attention}
NEAR = {torch.float32: 1e-6, torch.float64: 1e-14}
sizes = st.integers(1, 6)
dtypes = st.sampled_from(list(NEAR))


@pytest.fixture(params=list(PATHS))
def attend(request):
    return PATHS[request.param]


def qkv(seed, n, m, d_k, d_v, dtype=torch.float64):
    torch.manual_seed(seed)
    shapes = (2, 3, n, d_k), (2, 3, m, d_k), (2, 3, m, d_v)
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def random_mask(n, m):
    return torch.rand(2, 1, n, m) < 0.6


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def copied(ours: MultiHeadAttention, dropout=0.0) -> nn.MultiheadAttention:
    """PyTorch's module with the weights of ours."""
    weight = ours.output.weight
    theirs = nn.MultiheadAttention(
        weight.size(0), ours.nhead, dropout, batch_first=True, dtype=weight.dtype
    )
    parts = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())
    return theirs


# A soft dictionary


@claim("attention#soft-lookup")
@mutation(
    "examples/attention/soft_lookup.py",
    "(sharpness * scores).softmax",
    "scores.softmax",
    fault="the soft dictionary ignores its sharpness",
)
def test_a_sharp_lookup_is_a_dictionary_and_a_blunt_one_is_an_average(printed):
    shown = printed("examples", "soft_lookup")
    assert shown["second key, sharpness 50"] == "20.0"
    assert shown["second key, sharpness 0"] == "30.0"
    assert shown["halfway to the first key"] == "15.0"
    assert shown["pairs in another order"] == shown["halfway to the first key"]


@claim("attention#soft-lookup")
@mutation(
    "transformer.py",
    "scores = scores / math.sqrt(query.size(-1))",
    "scores = scores / math.sqrt(query.size(-1)) - torch.arange(key.size(-2))",
    fault="later keys get lower scores",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes, path=st.sampled_from(list(PATHS)))
def test_the_order_of_the_key_value_pairs_changes_nothing(seed, n, m, d, path):
    query, key, value = qkv(seed, n, m, d, d)
    order = torch.randperm(m)
    mask = random_mask(n, m)
    before = PATHS[path](query, key, value, mask)[0]
    after = PATHS[path](query, key[:, :, order], value[:, :, order], mask[..., order])[0]
    assert_close(after, before)


@claim("attention#soft-lookup")
@mutation(
    "transformer.py",
    "weights = scores.softmax(dim=-1)",
    "weights = scores.sigmoid()",
    fault="a sigmoid replaces the softmax",
)
def test_with_a_single_pair_the_output_is_its_value_for_any_query(attend):
    query, key, value = qkv(0, 4, 1, 3, 2)
    assert_close(attend(query, key, value)[0], value.expand(2, 3, 4, 2))


@claim("attention#soft-lookup")
@mutation(
    "transformer.py",
    "F.dropout(weights, dropout)",
    "F.dropout(weights, 0.1)",
    fault="explicit attention always drops a tenth of the weights",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes, path=st.sampled_from(list(PATHS)))
def test_each_output_lies_between_the_smallest_and_the_largest_value(seed, n, m, d, path):
    query, key, value = qkv(seed, n, m, d, d)
    output = PATHS[path](query, key, value)[0]
    assert (output <= value.amax(dim=-2, keepdim=True) + 1e-12).all()
    assert (output >= value.amin(dim=-2, keepdim=True) - 1e-12).all()


@claim("attention#query-key-value")
@mutation(
    "examples/attention/one_matrix.py",
    "(x @ to_key).T",
    "(x @ to_query).T",
    fault="the example with two matrices uses the first one twice",
)
def test_one_matrix_for_query_and_key_makes_symmetric_scores(printed):
    shown = printed("examples", "one_matrix")
    assert shown["one matrix, scores symmetric"] == "True"
    assert shown["two matrices, scores symmetric"] == "False"
    itself = "words whose best match is themselves"
    assert int(shown[f"one matrix, {itself}"]) > int(shown[f"two matrices, {itself}"])


# By hand, and the formula


@claim("attention#by-hand")
@mutation(
    "examples/attention/by_hand.py",
    "scores / 2**0.5",
    "scores / 2",
    fault="the example by hand divides the scores by d_k, not by its root",
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_numbers_computed_by_hand_on_the_page_match_the_code(printed, language):
    shown = {
        label: [float(number) for number in numbers.split()]
        for label, numbers in printed("examples", "by_hand").items()
    }
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    by_hand = page.split("{ #by-hand }")[1].split("\n## ")[0]
    rows = (shown[f"{word}, scores"] for word in ("we", "work", "?"))
    assert r" \\ ".join(" & ".join(f"{x:g}" for x in row) for row in rows) in by_hand
    numbers = [x for step in ("scaled", "powers", "weights") for x in shown[f"work, {step}"]]
    for number in (*numbers, sum(shown["work, powers"])):
        assert f"${number:.5g}$" in by_hand
    assert "({:.2f}, {:.2f})".format(*shown["work, output"]) in by_hand


@claim("attention#formula")
@mutation(
    "transformer.py",
    "math.sqrt(query.size(-1))",
    "query.size(-1)",
    fault="explicit attention divides the scores by d_k, not by its root",
)
def test_the_example_by_hand_is_what_the_code_computes(attend, dtype):
    query = torch.tensor([[0, 1], [2, 0], [1, 1]], dtype=dtype)
    key = torch.tensor([[2, 0], [0, 2], [1, -1]], dtype=dtype)
    value = torch.tensor([[10, 0], [0, 10], [5, 5]], dtype=dtype)
    expected = torch.tensor([[2.223, 7.777], [8.613, 1.387], [5, 5]], dtype=dtype)
    assert_close(attend(query[None], key[None], value[None])[0][0], expected, atol=5e-4, rtol=0)


@claim("attention#formula")
@mutation(
    "transformer.py",
    "math.sqrt(query.size(-1))",
    "math.sqrt(key.size(-2))",
    fault="the scores are divided by the root of the number of keys",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d_k=sizes, d_v=sizes, dtype=dtypes)
def test_attention_equals_the_formula_cell_by_cell(seed, n, m, d_k, d_v, dtype):
    query, key, value = qkv(seed, n, m, d_k, d_v, dtype)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert output.shape == (2, 3, n, d_v) and weights.shape == (2, 3, n, m)
    q, k, v = query[1, 2].tolist(), key[1, 2].tolist(), value[1, 2].tolist()
    for i in range(n):
        dots = [sum(a * b for a, b in zip(q[i], k[j], strict=True)) for j in range(m)]
        powers = [math.exp(dot / math.sqrt(d_k)) for dot in dots]
        row = [power / sum(powers) for power in powers]
        assert weights[1, 2, i].tolist() == pytest.approx(row, rel=1e-4)
        column = [sum(row[j] * v[j][c] for j in range(m)) for c in range(d_v)]
        assert output[1, 2, i].tolist() == pytest.approx(column, rel=1e-4, abs=1e-5)


@claim("attention#formula")
@mutation(
    "transformer.py",
    "weights = scores.softmax(dim=-1)",
    "weights = scores.softmax(dim=-2)",
    fault="the softmax runs over the queries",
)
@mutation(
    "transformer.py",
    "        weights = scores.softmax(dim=-1)\n",
    "        weights = scores.softmax(dim=1)\n",
    fault="the softmax runs over axis 1",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes)
def test_the_weights_of_each_query_sum_to_one_and_those_of_a_key_to_any_amount(seed, n, m, d):
    query, key, value = qkv(seed, n, m, d, d)
    _, weights = scaled_dot_product_attention(query, key, value)
    assert_close(weights.sum(dim=-1), torch.ones(2, 3, n, dtype=torch.float64))
    assert_close(weights.sum(dim=(-1, -2)), torch.full((2, 3), float(n), dtype=torch.float64))


@claim("attention#formula")
@mutation(
    "examples/attention/softmax_axis.py",
    "wrong = scores.softmax(dim=-2)",
    "wrong = scores.softmax(dim=-1)",
    fault="the wrong softmax of the example runs over the right axis",
)
def test_a_popular_key_receives_more_than_one_and_a_softmax_over_the_wrong_axis_breaks_the_row_sums(
    printed,
):
    shown = printed("examples", "softmax_axis")
    assert shown["each query gives"] == "1.00 1.00 1.00"
    received = [float(x) for x in shown["each key receives"].split()]
    assert max(received) > 1 and sum(received) == pytest.approx(3, abs=0.02)
    assert shown["wrong axis, each query gives"] != "1.00 1.00 1.00"


@claim("attention#formula")
@mutation(
    "transformer.py",
    "weights = scores.softmax(dim=-1)",
    "weights = scores.relu() / scores.relu().sum(dim=-1, keepdim=True)",
    fault="only keys with a positive score get weight",
)
def test_zero_and_negative_scores_still_get_weight():
    query, key = torch.tensor([[[1.0]]]), torch.tensor([[[2.0], [0.0], [-1.0]]])
    _, weights = scaled_dot_product_attention(query, key, key)
    assert (weights > 0.01).all()


# A product is not a distance


@claim("attention#not-closeness")
@mutation(
    "examples/attention/not_closeness.py",
    "products = keys @ query",
    "products = keys @ query / keys.norm(dim=-1)",
    fault="the example divides each product by the length of its key",
)
def test_a_long_distant_key_beats_a_key_equal_to_the_query(printed):
    shown = printed("examples", "not_closeness")
    assert shown["the same vector, distance"] == "0.0"
    assert float(shown["a long vector, distance"]) > 6
    assert float(shown["a long vector, weight"]) > 0.95
    assert shown["equal once the keys' lengths are taken off"] == "True"


@claim("attention#not-closeness")
@mutation(
    "transformer.py",
    "scores = scores / math.sqrt(query.size(-1))",
    "scores = scores / -math.sqrt(query.size(-1))",
    fault="the scores have the opposite sign",
)
@few
@given(seed=seeds, m=sizes, d=sizes)
def test_among_keys_of_equal_length_the_closest_gets_the_most_weight(seed, m, d):
    query, key, value = qkv(seed, 1, m, d, d)
    key = F.normalize(key, dim=-1)
    _, weights = scaled_dot_product_attention(query, key, value)
    distances = (query - key).norm(dim=-1)
    closest = distances.argmin(dim=-1, keepdim=True)
    most = weights[..., 0, :].gather(-1, closest)
    assert_close(most, weights[..., 0, :].amax(dim=-1, keepdim=True))


@claim("attention#not-closeness")
@mutation(
    "transformer.py",
    "scores = query @ key.transpose(-2, -1)",
    "scores = F.normalize(query, dim=-1) @ key.transpose(-2, -1)",
    fault="queries are normalized to length one",
)
@few
@given(seed=seeds, m=st.integers(2, 6), d=sizes, factor=st.floats(1.1, 4))
def test_a_longer_query_keeps_the_order_and_sharpens_the_weights(seed, m, d, factor):
    query, key, value = qkv(seed, 1, m, d, d)
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


def gradients(attention, x, upstream, divided):
    """The gradients of W_Q and W_K."""
    with contextlib.nullcontext() if divided else without_the_division():
        output = attention(x, x, x)[0]
    return torch.autograd.grad(output, [attention.query.weight, attention.key.weight], upstream)


@claim("attention#why-sqrt-dk", kind="mathematics")
@pytest.mark.parametrize("d_k", [16, 64, 256])
def test_the_variance_of_a_dot_product_is_d_k_and_after_scaling_it_is_one(d_k):
    torch.manual_seed(1)
    query, key = torch.randn(2, 20_000, d_k)
    products = (query * key).sum(dim=-1)
    assert products.var().item() == pytest.approx(d_k, rel=0.05)
    assert (products / d_k**0.5).var().item() == pytest.approx(1, rel=0.05)


@claim("attention#why-sqrt-dk")
@mutation(
    "transformer.py",
    "scores = scores / math.sqrt(query.size(-1))",
    "scores = scores * 1.0",
    fault="the scores are not divided",
)
def test_the_code_divides_by_the_square_root_of_the_head_size():
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, 300, 64)
    _, weights = scaled_dot_product_attention(query, key, key)
    logs = weights.log()  # the scores, but for a constant in each row
    spread = (logs - logs.mean(dim=-1, keepdim=True)).var().item()
    assert spread == pytest.approx(1, rel=0.1)


@claim("attention#why-sqrt-dk")
@mutation(
    "examples/attention/saturation.py",
    "/ divisor",
    "/ 8",
    fault="the example of saturation divides by 8 both times",
)
def test_the_example_prints_the_largest_weight_and_the_median_slope(printed):
    shown = {name: float(number) for name, number in printed("examples", "saturation").items()}
    assert shown["divided by 8, largest weight"] < 0.15
    assert shown["divided by 1, largest weight"] > 0.7
    assert shown["divided by 1, median slope"] < 1e-7 < 1e-3 < shown["divided by 8, median slope"]


@claim("attention#why-sqrt-dk", kind="mathematics")
@pytest.mark.parametrize("seed", range(3))
def test_without_the_division_one_key_wins_and_the_slopes_of_most_keys_nearly_vanish(seed):
    torch.manual_seed(seed)
    largest, winner, median = {}, {}, {}
    for d_k, divided in (64, True), (64, False), (512, False):
        query, key = torch.randn(500, 1, d_k), torch.randn(500, 64, d_k)
        scores = (query @ key.mT).squeeze(1).double() / (d_k**0.5 if divided else 1)
        weights = scores.softmax(dim=-1).sort(descending=True).values
        slopes = weights * (1 - weights)
        case = d_k, divided
        largest[case] = weights[:, 0].mean()
        winner[case], median[case] = slopes[:, 0].mean(), slopes.median()
    assert largest[64, True] < 0.15 and largest[64, False] > 0.7 and largest[512, False] > 0.9
    assert median[64, True] > 5e-3 and median[64, False] < 1e-7 and median[512, False] < 1e-20
    assert winner[64, False] > winner[64, True] > winner[512, False]


@claim("attention#why-sqrt-dk", kind="mathematics")
@few
@given(seed=seeds, m=st.integers(1, 6))
def test_the_derivative_of_a_weight_by_its_own_score_is_w_times_one_minus_w(seed, m):
    torch.manual_seed(seed)
    scores = torch.randn(m, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    weights = scores.softmax(dim=-1)
    assert_close(jacobian.diagonal(), weights * (1 - weights))


@claim("attention#why-sqrt-dk")
@mutation(
    "transformer.py",
    "x = F.scaled_dot_product_attention(query, key, value, mask, dropout)",
    "x = F.scaled_dot_product_attention(query, key, value, mask, dropout, scale=1.0)",
    fault="the fused path does not divide its scores",
)
@pytest.mark.parametrize("nhead", [64, 8, 1], ids=lambda nhead: f"d_k={512 // nhead}")
def test_without_the_division_the_gradients_of_w_q_and_w_k_are_larger(nhead):
    for seed in range(3):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(512, nhead).apply(initialise)
        for n, bound in (16, 2), (64, 3), (256, 5):
            x, upstream = torch.randn(2, 1, n, 512)
            with_it, without = (gradients(attention, x, upstream, d) for d in (True, False))
            for one, other in zip(with_it, without, strict=True):
                assert other.norm() > bound * one.norm()


@claim("attention#why-sqrt-dk")
@mutation(
    "transformer.py",
    "mask, dropout)\n    return x, None",
    "mask, dropout, scale=query.size(-1) ** -0.25)\n    return x, None",
    fault="the fused path divides its scores by the fourth root of d_k",
)
@pytest.mark.parametrize("tokens", [5, 16, 64, 256])
def test_in_the_size_of_the_base_model_they_are_larger_from_five_tokens_on(tokens):
    for seed in range(5):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(512, 8).apply(initialise)
        x, upstream = torch.randn(2, 1, tokens, 512)
        with_it, without = (gradients(attention, x, upstream, d) for d in (True, False))
        for one, other in zip(with_it, without, strict=True):
            assert other.norm() > {5: 2.5, 16: 4, 64: 8, 256: 16}[tokens] * one.norm()


@claim("attention#why-sqrt-dk")
@mutation(
    "examples/attention/query_gradients.py",
    "scale=1.0",
    "scale=d_k**-0.25",
    fault="the gradients without the division are measured with half of it",
)
def test_the_example_measures_larger_gradients_of_w_q_and_few_queries_that_get_them(printed):
    shown = {
        name: float(x.lstrip("× ")) for name, x in printed("examples", "query_gradients").items()
    }
    matrices = [x for name, x in shown.items() if name.endswith("gradient of W_Q")]
    assert len(matrices) == 4 and min(matrices) > 4
    assert shown["d_k = 512, 16 tokens, median query"] < 0.1


@claim("attention#why-sqrt-dk", kind="mathematics")
@pytest.mark.parametrize("seed", range(5))
def test_with_d_k_512_and_16_tokens_half_of_the_queries_get_almost_no_gradient(seed):
    torch.manual_seed(seed)
    query, key, value, upstream = torch.randn(4, 8, 16, 512, requires_grad=True)
    medians = []
    for scale in 512**-0.5, 1.0:
        output = F.scaled_dot_product_attention(query, key, value, scale=scale)
        (gradient,) = torch.autograd.grad(output, query, upstream)
        medians.append(gradient.norm(dim=-1).median())
    assert medians[1] < 0.1 * medians[0]


@claim("attention#why-sqrt-dk", kind="mathematics")
def test_where_two_keys_compete_the_slopes_stay_at_a_quarter():
    scores = 8 * torch.tensor([0.0, 0.0, -3.0], dtype=torch.float64)
    weights = scores.softmax(dim=-1)
    assert_close((weights * (1 - weights))[:2], torch.tensor([0.25, 0.25], dtype=torch.float64))


@claim("attention#why-sqrt-dk")
@mutation(
    "transformer.py",
    "math.sqrt(query.size(-1))",
    "query.size(-1) ** 0.25",
    fault="the scores are divided by the fourth root of d_k",
)
def test_without_the_division_a_step_on_w_q_moves_the_scores_by_the_root_of_d_k_as_far():
    def logits(attention):
        """The logarithms of the weights: the scores, but for a constant in each row."""
        scores = attention.split(attention.query(x)) @ attention.split(attention.key(x)).mT
        return scores - scores.mean(dim=-1, keepdim=True)

    torch.manual_seed(0)
    x = torch.randn(1, 9, 64, dtype=torch.float64)
    attention = MultiHeadAttention(64, 1).double()
    before, weights = logits(attention), attention(x, x, x, need_weights=True)[1].log()
    with torch.no_grad():
        attention.query.weight += 0.01 * torch.randn(64, 64, dtype=torch.float64)
    moved = logits(attention) - before
    divided = attention(x, x, x, need_weights=True)[1].log() - weights
    assert_close(divided - divided.mean(dim=-1, keepdim=True), moved / 8)


@claim("attention#why-sqrt-dk")
@mutation(
    "transformer.py",
    "nn.init.xavier_uniform_(module.weight)",
    "nn.init.kaiming_uniform_(module.weight)",
    fault="linear weights start from Kaiming's uniform distribution",
)
def test_xavier_uniform_projections_start_with_scores_of_variance_one(printed):
    shown = printed("examples", "at_the_start")
    assert shown["scores, Xavier-uniform"] == "1.0"
    assert shown["scores, nn.Linear as it comes"] == "0.1"


# What training without the root measures


@pytest.fixture(scope="module")
def experiment() -> dict:
    return runpy.run_path(str(ROOT / "scripts" / "experiments" / "scaling.py"))


@pytest.fixture(scope="module")
def scaling() -> dict:
    return json.loads((SNIPPETS / "results" / "scaling.json").read_text(encoding="utf-8"))


def steps_of(scaling, **settings) -> list[float]:
    """Until nine of ten answers are right; infinite for a run that never gets there."""
    runs = [run for run in scaling["runs"] if all(run[name] == x for name, x in settings.items())]
    return [run["nine of ten after"] or math.inf for run in runs]


@claim("attention#why-sqrt-dk", kind="measurement")
def test_the_training_results_are_of_the_current_code(experiment, scaling):
    assert scaling["key"] == experiment["key"](), "stale; run scripts/experiment scaling"
    single = [run for run in scaling["runs"] if run["layers"] == 0]
    assert len(single) == 3 * 4 * 3 * 5
    assert len(scaling["runs"]) == len(single) + 3 * 2 * 3


@claim("attention#why-sqrt-dk", kind="measurement")
@pytest.mark.parametrize("variant", ["divided", "not divided"])
def test_a_training_run_matches_its_record(experiment, scaling, variant):
    (expected,) = steps_of(scaling, layers=0, d_k=64, rate=1e-3, seed=0, variant=variant)
    found = experiment["train"](variant, 1e-3, 0, nhead=4, steps=150)["nine of ten after"]
    assert found == pytest.approx(expected, abs=10)


@claim("attention#why-sqrt-dk", kind="measurement")
@pytest.mark.parametrize("layers", [1, 2, 6])
def test_in_whole_models_every_gradient_of_w_q_is_larger_without_the_division(
    experiment, scaling, layers
):
    for norm_first in True, False:
        ratios = experiment["gradient_ratios"](layers, norm_first, 0)
        recorded = next(
            new["ratios"]
            for new in scaling["gradients"]
            if (new["layers"], new["norm_first"], new["seed"]) == (layers, norm_first, 0)
        )
        assert ratios == pytest.approx(recorded, rel=0.05)
    of_all = [r for new in scaling["gradients"] if new["layers"] == layers for r in new["ratios"]]
    assert len(of_all) == 2 * 5 * 3 * layers and min(of_all) > 2


@claim("attention#why-sqrt-dk", kind="measurement")
def test_in_deeper_models_the_gradients_of_w_q_grow_more(printed):
    shown = printed("examples", "scaling")
    ratios = [float(shown[f"{layers} layers, gradient of W_Q"]) for layers in (1, 2, 6)]
    assert 5 < ratios[0] < ratios[1] < ratios[2]


@claim("attention#why-sqrt-dk", kind="measurement")
def test_without_the_division_every_training_run_takes_longer_and_more_so_the_larger_d_k(scaling):
    slowdown = []
    for d_k in 8, 64, 256:
        for rate in 3e-4, 1e-3, 3e-3:
            divided, undivided = (
                steps_of(scaling, layers=0, d_k=d_k, rate=rate, variant=variant)
                for variant in ("divided", "not divided")
            )
            assert max(divided) < min(undivided)
            if rate == 1e-3:
                slowdown.append(statistics.median(undivided) / statistics.median(divided))
    assert 1.1 < slowdown[0] < slowdown[1] < slowdown[2]


@claim("attention#why-sqrt-dk", kind="measurement")
def test_a_small_start_without_the_division_is_as_fast_at_the_lowest_rate_and_fails_at_a_high_one(
    scaling,
):
    for d_k in 8, 64, 256:
        medians = {
            variant: statistics.median(
                steps_of(scaling, layers=0, d_k=d_k, rate=3e-4, variant=variant)
            )
            for variant in ("divided", "not divided", "smaller W_Q")
        }
        assert min(medians, key=medians.get) == "smaller W_Q"
    high = {"layers": 0, "d_k": 256, "rate": 3e-3}
    assert max(steps_of(scaling, **high, variant="divided")) < 50
    for variant in "not divided", "smaller W_Q":
        assert min(steps_of(scaling, **high, variant=variant)) == math.inf


@claim("attention#why-sqrt-dk", kind="measurement")
def test_deeper_encoders_need_the_division_more(scaling):
    right = {
        (layers, variant): [
            run["right"]
            for run in scaling["runs"]
            if (run["layers"], run["variant"]) == (layers, variant)
        ]
        for layers in (1, 2, 6)
        for variant in ("divided", "not divided")
    }
    assert all(min(right[layers, "divided"]) > 0.95 for layers in (1, 2, 6))
    one, two, six = (right[layers, "not divided"] for layers in (1, 2, 6))
    assert max(one) < 0.85 and min(one) > max(two) and min(two) > max(six)


# Masks


@claim("attention#code")
@mutation(
    "transformer.py",
    "scores.masked_fill(~mask, lowest)",
    "(scores - 10.0 * ~mask)",
    fault="forbidden scores are lowered by ten instead of replaced",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes, path=st.sampled_from(list(PATHS)), dtype=dtypes)
def test_a_forbidden_key_changes_no_output_and_gets_no_gradient(seed, n, m, d, path, dtype):
    query, key, value = qkv(seed, n, m, d, d, dtype)
    mask = random_mask(n, m)
    mask[..., 0] = False  # no query may attend to key 0
    output = PATHS[path](query, key, value, mask)[0]
    other_key, other_value = key.detach().clone(), value.detach().clone()
    other_key[:, :, 0] += 100
    other_value[:, :, 0] += 100
    assert_close(PATHS[path](query, other_key, other_value, mask)[0], output)
    output.sum().backward()
    assert not key.grad[:, :, 0].any() and not value.grad[:, :, 0].any()


@claim("attention#code")
@mutation(
    "transformer.py",
    "scores.masked_fill(~mask, lowest)",
    "scores.masked_fill(mask, lowest)",
    fault="the mask is inverted in explicit attention",
)
@mutation(
    "transformer.py",
    "weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)",
    "weights = scores.softmax(dim=-1)",
    fault="the mask comes after the softmax",
)
@few
@given(seed=seeds, n=sizes, m=sizes)
def test_weights_of_forbidden_keys_are_exactly_zero_and_the_others_sum_to_one(seed, n, m):
    query, key, value = qkv(seed, n, m, 4, 4)
    mask = random_mask(n, m)
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    assert not weights[~mask.expand_as(weights)].any()
    sums = weights.sum(dim=-1)
    assert_close(sums, mask.any(dim=-1).double().expand_as(sums))


@claim("attention#code")
@mutation(
    "transformer.py",
    "lowest = torch.finfo(scores.dtype).min",
    "lowest = -1e9",
    fault="forbidden scores get a number that float16 cannot hold",
)
@mutation(
    "transformer.py",
    "weights = weights.masked_fill(~mask, 0.0)",
    "weights = weights.clone()",
    fault="a query with no allowed key attends to the forbidden keys",
)
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = torch.atleast_2d(mask) | ~mask.any(dim=-1, keepdim=True)",
    fault="the fused path lets a query with no allowed key see every key",
)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_a_query_with_no_allowed_key_gets_zeros_and_no_gradient_is_nan(attend, dtype):
    query, key, value = qkv(0, 4, 5, 8, 6, dtype)
    mask = random_mask(4, 5)
    mask[:, :, 1] = False  # query 1 has no key at all
    output = attend(query, key, value, mask)[0]
    assert not output[:, :, 1].any()
    assert output.isfinite().all()
    output.sum().backward()
    for tensor in (query, key, value):
        assert tensor.grad.isfinite().all()
    assert not query.grad[:, :, 1].any()


@claim("attention#code")
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = torch.atleast_2d(mask) if mask.any() else None",
    fault="the fused path ignores a mask that is False everywhere",
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_if_no_query_has_an_allowed_key_all_outputs_and_gradients_are_zero(attend, dtype):
    query, key, value = qkv(0, 4, 5, 8, 6, dtype)
    output = attend(query, key, value, torch.zeros(4, 5, dtype=torch.bool))[0]
    output.sum().backward()
    assert not output.any()
    for tensor in (query, key, value):
        assert not tensor.grad.any()


@claim("attention#code")
@mutation(
    "examples/attention/no_key.py",
    'float("-inf")',
    "-1e9",
    fault="the plain softmax of the example runs over minus a billion",
)
@mutation(
    "transformer.py",
    "        lowest = torch.finfo(scores.dtype).min\n"
    "        weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)\n"
    "        weights = weights.masked_fill(~mask, 0.0)",
    "        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)",
    fault="explicit attention is a plain softmax over minus infinity",
)
def test_a_plain_softmax_over_minus_infinity_is_nan_and_ours_is_not(printed):
    shown = printed("examples", "no_key")
    assert shown.pop("plain softmax, row 1") == "[nan, nan]"
    assert len(shown) == 12 and set(shown.values()) == {"True"}


@claim("attention#code", kind="measurement")
def test_minus_a_billion_does_not_exist_in_float16():
    scores = torch.zeros(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="overflow"):
        scores.masked_fill(torch.tensor([True, False]), -1e9)


@claim("attention#code")
@mutation(
    "transformer.py",
    "if mask.dtype != torch.bool",
    "if mask.dtype == torch.complex64",
    fault="float masks are accepted",
)
@mutation(
    "transformer.py",
    "check_mask(mask, torch.Size((*query.shape[:-1], key.size(-2))))",
    "pass",
    fault="the fused path accepts every mask that PyTorch accepts",
)
@pytest.mark.parametrize(
    "mask", [torch.ones(4, 5), torch.ones(4, 5, dtype=torch.int64)], ids=["float", "int"]
)
def test_a_mask_that_is_not_boolean_is_rejected(attend, mask):
    query, key, value = qkv(0, 4, 5, 8, 6)
    with pytest.raises(ValueError, match=f"masks are boolean, True may attend: {mask.dtype}"):
        attend(query, key, value, mask)


@claim("attention#code")
@mutation(
    "transformer.py",
    "mask.dim() > len(shape) or any(",
    "any(",
    fault="a mask with more axes than the scores expands the scores",
)
@pytest.mark.parametrize("shape", [(5, 4), (4, 4), (3, 3, 4, 5), (1, 2, 3, 4, 5)], ids=str)
def test_a_mask_that_does_not_broadcast_is_rejected(attend, shape):
    query, key, value = qkv(0, 4, 5, 8, 6)
    with pytest.raises(ValueError) as caught:
        attend(query, key, value, torch.ones(shape, dtype=torch.bool))
    assert str(caught.value) == f"the mask does not broadcast: {shape} to (2, 3, 4, 5)"


@claim("attention#code")
@mutation(
    "transformer.py",
    "a not in (1, b)",
    "a != b",
    fault="a mask must have the shape of the scores",
)
@mutation(
    "transformer.py",
    "mask = torch.atleast_2d(mask)",
    "mask = mask.clone()",
    fault="a mask with one axis is passed to the kernel unchanged",
)
@pytest.mark.parametrize("shape", [(5,), (4, 5), (1, 5), (4, 1), (3, 1, 1), (2, 1, 1, 5)], ids=str)
def test_a_mask_that_broadcasts_is_equivalent_to_the_full_mask(attend, shape):
    query, key, value = qkv(0, 4, 5, 8, 6)
    mask = torch.rand(shape) < 0.6
    whole = mask.expand(2, 3, 4, 5)
    assert_close(attend(query, key, value, mask)[0], attend(query, key, value, whole)[0])


@claim("attention#code")
@mutation(
    "transformer.py",
    'f"{tuple(mask.shape)} to {tuple(shape)}"',
    'f"{tuple(shape)} to {tuple(mask.shape)}"',
    fault="the error about a mask swaps the two shapes",
)
@mutation(
    "transformer.py",
    "got {d_model} and {nhead}",
    "got {nhead} and {d_model}",
    fault="the error about heads swaps the two sizes",
)
def test_errors_about_masks_and_heads_name_the_problem(printed, capsys):
    printed("examples", "wrong_masks")
    runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "wrong_masks.py"))
    assert capsys.readouterr().out.splitlines() == [
        "masks are boolean, True may attend: torch.float32",
        "the mask does not broadcast: (5, 4) to (5, 5)",
        "the mask does not broadcast: (2, 5, 5) to (5, 5)",
        "d_model must be divisible by nhead, got 512 and 7",
    ]


# Dropout


@claim("attention#dropout")
@mutation(
    "transformer.py",
    "    return F.dropout(weights, dropout) @ value, weights",
    "    weights = F.dropout(weights, dropout)\n    return weights @ value, weights",
    fault="the returned weights are those after dropout",
)
def test_dropout_affects_the_weights_that_are_used_and_not_the_weights_that_are_returned():
    query, key, value = qkv(0, 50, 50, 8, 8)
    plain, expected = scaled_dot_product_attention(query, key, value)
    dropped, weights = scaled_dot_product_attention(query, key, value, dropout=0.5)
    assert torch.equal(weights, expected)
    assert (dropped - plain).abs().max() > 0.1


@claim("attention#dropout")
@mutation(
    "transformer.py",
    "F.scaled_dot_product_attention(query, key, value, mask, dropout)",
    "F.scaled_dot_product_attention(query, key, value, mask, 0.0)",
    fault="the fused path never applies dropout",
)
def test_dropout_keeps_the_expected_output(attend):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 1, 8, dtype=torch.float64).expand(3, 20_000, 1, 8)
    value = torch.ones_like(value)
    output = attend(query, key, value, dropout=0.5)[0]
    assert set(output.unique().tolist()) == {0.0, 2.0}
    assert output[..., 0].mean().item() == pytest.approx(1, abs=0.03)


@claim("attention#dropout")
@mutation(
    "transformer.py",
    "self.dropout * self.training",
    "self.dropout",
    fault="dropout is applied in evaluation",
)
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


@claim("attention#dropout")
@mutation(
    "examples/attention/dropout_on_weights.py",
    'theirs.train(mode == "training")',
    "theirs.eval()",
    fault="the example keeps PyTorch's module in evaluation mode",
)
def test_in_training_our_returned_rows_sum_to_one_and_those_of_torch_do_not(printed):
    shown = printed("examples", "dropout_on_weights")
    assert shown["training, ours"] == shown["evaluation, ours"] == "1.0 to 1.0"
    assert shown["evaluation, torch.nn"] == "1.0 to 1.0"
    assert shown["training, torch.nn"] != "1.0 to 1.0"


# The fused path


@claim("attention#cost")
@mutation(
    "transformer.py",
    "F.scaled_dot_product_attention(query, key, value, mask, dropout)",
    "F.scaled_dot_product_attention(query, key, value, None, dropout)",
    fault="the fused path ignores the mask",
)
@few
@given(seed=seeds, n=sizes, m=sizes, d_k=sizes, d_v=sizes, dtype=dtypes, masked=st.booleans())
def test_fused_and_explicit_attention_are_equal(seed, n, m, d_k, d_v, dtype, masked):
    tensors = qkv(seed, n, m, d_k, d_v, dtype)
    mask = random_mask(n, m) if masked else None
    compare_fused_attention(tensors, mask)


@claim("attention#cost")
@mutation(
    "transformer.py",
    "x = F.scaled_dot_product_attention(query, key, value, mask, dropout)",
    "half = (each.bfloat16() for each in (query, key, value))\n"
    "    x = F.scaled_dot_product_attention(*half, mask, dropout).type_as(query)",
    fault="the fused path computes in bfloat16",
)
def test_fused_equals_explicit_within_a_millionth_at_the_size_of_the_base_model():
    torch.manual_seed(1)
    query, key, value = torch.randn(3, 2, 8, 100, 64)
    for mask in (None, causal(100)):
        explicit, fused = (path(query, key, value, mask)[0] for path in PATHS.values())
        assert_close(fused, explicit, atol=1e-6, rtol=0)


@claim("attention#cost")
@mutation(
    "transformer.py",
    "return x, None",
    "return x, x",
    fault="the fused path returns its output in place of the weights",
)
def test_the_fused_path_has_no_weights_to_return(printed):
    shown = printed("examples", "fused_equal")
    assert shown["no mask, equal to 1e-6"] == shown["causal mask, equal to 1e-6"] == "True"
    assert shown["weights of the fused path"] == "None"
    assert shown["weights of the explicit path"] == "(2, 8, 100, 100)"


@claim("attention#cost", kind="measurement")
def test_fused_attention_needs_linear_memory_and_quadratic_time(printed):
    shown = printed("examples", "cost")
    assert 3.5 < float(shown["explicit, memory at twice the length"]) < 4.5
    assert 1.5 < float(shown["fused, memory at twice the length"]) < 2.5
    for path in PATHS:
        assert 3 < float(shown[f"{path}, time at twice the length"]) < 5


@claim("attention#cost")
@mutation(
    "transformer.py",
    "    x = F.scaled_dot_product_attention(query, key, value, mask, dropout)\n",
    "    x, _ = scaled_dot_product_attention(query, key, value, mask, dropout)\n",
    fault="the fused path stores the weights even without dropout",
)
def test_the_fused_path_stores_no_weights_without_dropout_and_stores_them_with_it_on_a_cpu(printed):
    shown = printed("examples", "fused_or_not")
    assert shown["largest tensor stored, dropout 0.0"] == shown["queries"] == "262,144"
    assert shown["largest tensor stored, dropout 0.1"] == shown["weights"] == "2,097,152"
    assert shown["is_causal is the causal mask"] == "True"


@claim("attention#cost", kind="measurement")
def test_the_cuda_kernel_of_flash_attention_takes_dropout_but_no_mask():
    schema = torch.ops.aten._scaled_dot_product_flash_attention.default._schema
    names = {argument.name for argument in schema.arguments}
    assert {"dropout_p", "is_causal"} <= names
    assert not names & {"attn_mask", "attn_bias"}


@claim("attention#cost", kind="measurement")
def test_three_matrices_take_most_of_the_memory_of_explicit_attention(printed):
    shown = printed("examples", "cost")
    table = int(shown["one table of weights, bytes"].replace(",", "")) / 1e6
    assert 3 * table < float(shown["explicit, megabytes at 4096"]) < 3.3 * table


@claim("attention#cost", kind="measurement")
def test_the_measured_cost_is_of_the_current_code_and_each_length_twice_the_one_before():
    measured = json.loads((SNIPPETS / "results" / "attention.json").read_text())
    sources = ROOT / "scripts/experiments/attention.py", SNIPPETS / "transformer.py"
    assert measured["key"] == code_key(*sources), "stale; run scripts/experiment attention"
    lengths = measured["lengths"]
    assert lengths == [128 * 2**i for i in range(len(lengths))]


@claim("attention#cost")
@mutation(
    "examples/attention/multiplications.py",
    "2 * n**2 * d_model",
    "n**2 * d_model",
    fault="the count of products omits the averages",
)
def test_at_length_twice_d_model_the_pairs_cost_as_much_as_the_linear_layers(printed):
    shown = printed("examples", "multiplications")
    assert shown["1024 tokens, share of the pairs"] == "50.0%"
    assert float(shown["5 tokens, share of the pairs"].rstrip("%")) < 1


# Heads


@claim("attention#one-average")
@mutation(
    "transformer.py",
    "self.nhead = nhead",
    "self.nhead = 1",
    fault="attention has one head, whatever its nhead",
)
def test_one_head_cannot_distinguish_two_neighbors_and_two_heads_can(printed):
    shown = printed("examples", "two_neighbours")
    assert float(shown["neighbours named right, nhead = 1"]) < 0.7
    assert float(shown["neighbours named right, nhead = 2"]) > 0.95


@claim("attention#multi-head-code")
@mutation(
    "examples/attention/two_neighbours.py",
    "x = embedding(ids) + table",
    "x = embedding(ids)",
    fault="the example of the two neighbors omits the positions",
)
def test_one_of_two_heads_looks_right_and_the_other_left(capsys):
    trained = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "two_neighbours.py"))["trained"]
    middle = [[head[i].argmax().item() - i for i in (1, 2, 3)] for head in trained[2][1]]
    assert sorted(middle) == [[-1, -1, -1], [1, 1, 1]]


@claim("attention#shapes")
@mutation(
    "examples/attention/shapes.py",
    "q.unflatten(-1, (8, 64))",
    "q.unflatten(-1, (64, 8))",
    fault="the example of the shapes makes 64 heads of size 8",
)
def test_the_shapes_match_the_table(printed):
    shown = printed("examples", "shapes")
    assert list(shown.values()) == [
        "(2, 5, 512)",
        "(2, 5, 8, 64)",
        "(2, 8, 5, 64)",
        "(2, 8, 5, 5)",
        "(2, 8, 5, 64)",
        "(2, 5, 8, 64)",
        "(2, 5, 512)",
        "(2, 5, 512)",
    ]


@claim("attention#shapes")
@mutation(
    "examples/attention/reshape_trap.py",
    "x.reshape(1, 8, 5, 64)",
    "x.reshape(1, 5, 8, 64).transpose(1, 2)",
    fault="the wrong reshape of the example keeps the tokens together",
)
def test_a_reshape_mixes_tokens_and_has_the_right_shape(printed):
    shown = printed("examples", "reshape_trap")
    assert shown["same shape"] == "True"
    for head in (0, 1, 7):
        assert shown[f"split, head {head} holds tokens"] == "0 1 2 3 4"
    assert shown["reshape, head 0 holds tokens"] == "0 0 0 0 0"


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "return x.transpose(1, 2)",
    "return x.reshape(x.size(0), x.size(2), x.size(1), x.size(3))",
    fault="heads are split with a reshape",
)
@few
@given(n=sizes, nhead=sizes, head_dim=sizes)
def test_splitting_heads_divides_the_features_and_merging_reverses_it(n, nhead, head_dim):
    attention = MultiHeadAttention(nhead * head_dim, nhead)
    x = torch.arange(2.0 * n * nhead * head_dim).reshape(2, n, nhead * head_dim)
    split = attention.split(x)
    assert split.shape == (2, nhead, n, head_dim)
    for head in range(nhead):
        cut = x[..., head * head_dim : (head + 1) * head_dim]
        assert torch.equal(split[:, head], cut)
    assert torch.equal(split.transpose(1, 2).flatten(2), x)


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "v = self.split(self.value(value))",
    "v = self.split(self.value(key))",
    fault="the values are made from the keys' input",
)
@pytest.mark.parametrize("nhead", [1, 2, 8])
@pytest.mark.parametrize("masks", ["none", "causal", "padding", "random"])
def test_multi_head_attention_equals_that_of_torch_forward_and_backward(nhead, masks, dtype):
    compare_attention(masks, nhead, dtype)


@claim("attention#torch-nn")
@mutation(
    "examples/attention/torch_nn.py",
    "attn_mask=~mask",
    "attn_mask=mask",
    fault="nn.MultiheadAttention gets our mask where the results are compared",
)
def test_masks_of_nn_multihead_attention_are_the_opposite_of_ours_and_of_sdpas(printed):
    shown = printed("examples", "torch_nn")
    equal = [value for label, value in shown.items() if label.endswith("equal")]
    assert equal == ["True"] * 4
    seen = [float(weight) for weight in shown["given our mask, token 0 sees"].split()]
    assert seen[0] == 0 and all(weight > 0 for weight in seen[1:])
    x = torch.randn(2, 5, 16)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    assert theirs(x, x, x, attn_mask=causal(5))[0].isnan().any(dim=-1)[0].tolist() == [
        0,
        0,
        0,
        0,
        1,
    ]
    without, _ = theirs(x, x, x, attn_mask=causal(5), need_weights=False)
    assert_close(without[:, -1], theirs.out_proj.bias.expand(2, 16))
    query, key, value = qkv(0, 4, 4, 8, 8)
    same = F.scaled_dot_product_attention(query, key, value, causal(4))
    assert_close(same, scaled_dot_product_attention(query, key, value, causal(4))[0])


@claim("attention#torch-nn")
@mutation(
    "examples/attention/torch_nn.py",
    "nn.MultiheadAttention(32, 4, batch_first=True, dtype=dtype)",
    "nn.MultiheadAttention(\n        32, 4, batch_first=True, dtype=dtype, add_bias_kv=True\n    )",
    fault="PyTorch's module gets one more key and value",
)
def test_one_stacked_matrix_saves_no_parameters(printed):
    shown = printed("examples", "torch_nn")
    assert shown["parameters of ours"] == shown["parameters of theirs"]
    assert shown["their input matrix"] == "(96, 32)"


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return self.output(joined), weights.mean(dim=1)",
    fault="our returned weights are averaged over the heads",
)
def test_torch_averages_the_weights_over_heads_by_default():
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4)
    x = torch.randn(2, 5, 16)
    weights = ours(x, x, x, need_weights=True)[1]
    assert_close(copied(ours)(x, x, x)[1], weights.mean(dim=1))


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "if need_weights:\n"
    "            weights = F.dropout(weights, self.dropout, self.training)\n"
    "        return self.output(joined), weights",
    fault="the returned weights get a dropout of their own",
)
def test_the_weights_returned_in_training_are_those_before_dropout():
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4, dropout=0.5)
    x = torch.randn(2, 5, 16)
    training = ours(x, x, x, need_weights=True)[1]
    assert torch.equal(training, ours.eval()(x, x, x, need_weights=True)[1])
    theirs = copied(ours, dropout=0.5)(x, x, x, average_attn_weights=False)[1]
    assert not torch.allclose(theirs, training)


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "if nhead < 1 or d_model % nhead",
    "if d_model % (nhead or 1)",
    fault="zero or minus one heads are accepted",
)
@pytest.mark.parametrize("nhead", [-1, 0, 3, 5, 32])
def test_a_number_of_heads_that_does_not_divide_d_model_is_rejected(nhead):
    message = f"d_model must be divisible by nhead, got 16 and {nhead}"
    with pytest.raises(ValueError) as caught:
        MultiHeadAttention(16, nhead)
    assert str(caught.value) == message


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "def split(self, x: Tensor) -> Tensor:",
    "def split(self, x: Tensor) -> Tensor:\n        x = x.transpose(0, 1)",
    fault="the model treats sentences as positions",
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_sentence_does_not_see_the_rest_of_the_batch(need_weights, dtype):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).to(dtype)
    batch = torch.randn(3, 5, 16, dtype=dtype)
    changed = batch.clone()
    changed[1:] = torch.randn(2, 5, 16, dtype=dtype)
    before, after = (attention(x, x, x, None, need_weights)[0] for x in (batch, changed))
    assert torch.equal(before[0], after[0])
    assert not torch.allclose(before[1], after[1])


@claim("attention#batch-first")
@mutation(
    "examples/attention/batch_first.py",
    '"nn as it comes", nn.MultiheadAttention(32, 4)',
    '"nn as it comes", nn.MultiheadAttention(32, 4, batch_first=True)',
    fault="nn.MultiheadAttention gets batch_first in both cases",
)
def test_without_batch_first_sentences_see_each_other_in_torch_nn(printed):
    shown = printed("examples", "batch_first")
    assert shown["ours, change"] == shown["nn, batch_first=True, change"] == "0.00"
    assert float(shown["nn as it comes, change"]) > 0.5
    outputs = [value for label, value in shown.items() if label.endswith("output")]
    assert set(outputs) == {"(2, 5, 32)"}
    assert shown["nn as it comes, weights"] == "(5, 2, 2)"


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "attend(q, k, v, mask, self.dropout * self.training)",
    "attend(\n"
    "            q,\n"
    "            k,\n"
    "            v,\n"
    "            causal_mask(q.size(-2)) if mask is None else mask,\n"
    "            self.dropout * self.training,\n"
    "        )",
    fault="attention without a mask is causal",
)
@few
@given(seed=seeds, n=sizes, nhead=st.sampled_from([1, 2, 4]))
def test_self_attention_is_permutation_equivariant(seed, n, nhead):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(8, nhead).double()
    x, order = torch.randn(1, n, 8, dtype=torch.float64), torch.randperm(n)
    moved = x[:, order]
    assert_close(attention(moved, moved, moved)[0], attention(x, x, x)[0][:, order])


@claim("attention#whole-vector")
@mutation(
    "examples/attention/whole_vector.py",
    "attention.split(attention.query(x))",
    "attention.split(x)",
    fault="the projected heads of the example are slices of the vector",
)
def test_each_head_depends_on_every_feature_of_the_vector(printed):
    shown = printed("examples", "whole_vector")
    assert shown["projected, head 0"] == shown["projected, head 7"] == "512 (0 to 511)"
    assert shown["sliced, head 7"] == "64 (448 to 511)"
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(1, 1, 16, requires_grad=True)
    for part in (attention.query, attention.key, attention.value):
        heads = attention.split(part(x))
        for head in range(4):
            gradient = torch.autograd.grad(heads[0, head].sum(), x, retain_graph=True)[0]
            assert gradient.all()


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return joined, weights",
    fault="the output projection is omitted",
)
@pytest.mark.parametrize("nhead", [1, 2, 4, 8])
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


@claim("attention#low-rank")
@mutation(
    "examples/attention/low_rank.py",
    "total = attention.output(attention.value.bias)",
    "total = attention.output.bias",
    fault="the sum of the heads' maps omits the value bias",
)
def test_ranks_and_parameter_counts_match_the_page(printed):
    shown = printed("examples", "low_rank")
    assert shown["the heads' maps add up to the output"] == "True"
    assert shown["its rank"] == shown["rank of a head's scores"] == "16"
    counts = {shown[f"parameters with {nhead} heads"] for nhead in (1, 4, 16)}
    assert len(counts) == 1


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "x = x.unflatten(-1, (self.nhead, -1))",
    "x = x.unflatten(-1, (-1, self.nhead)).transpose(-2, -1)",
    fault="a head gets every nhead-th feature",
)
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


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return self.output(joined.relu()), weights",
    fault="a ReLU comes before the output projection",
)
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


@claim("attention#multi-head-code")
@mutation(
    "transformer.py",
    "heads.transpose(1, 2).flatten(2)",
    "heads.reshape(query.shape)",
    fault="heads are merged with a reshape",
)
def test_each_head_computes_attention_on_its_own_projections():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).apply(initialise).double()
    x, y = torch.randn(2, 2, 5, 16, dtype=torch.float64)
    heads = [
        scaled_dot_product_attention(
            attention.query(x)[..., i : i + 4],
            attention.key(y)[..., i : i + 4],
            attention.value(y)[..., i : i + 4],
        )[0]
        for i in range(0, 16, 4)
    ]
    expected = attention.output(torch.cat(heads, dim=-1))
    assert_close(attention(x, y, y)[0], expected)


# Exercises


@claim("attention#exercises")
@mutation(
    "transformer.py",
    "k = self.split(self.key(key))",
    "k = F.normalize(self.split(self.key(key)), dim=-1)",
    fault="keys are normalized to length one",
)
def test_the_key_bias_has_no_effect(printed):
    shown = printed("exercises", "key_bias")
    assert shown["largest gradient of the key bias"] == "0.0"
    assert float(shown["largest gradient of the query bias"]) > 0.1
    assert float(shown["largest gradient of the value bias"]) > 0.1
    assert shown["same output"] == "True"


@claim("attention#exercises")
@mutation(
    "transformer.py",
    "scores = scores / math.sqrt(query.size(-1))",
    "scores = (scores / math.sqrt(query.size(-1))).tanh()",
    fault="tanh limits the scores",
)
def test_a_zero_query_returns_the_average_and_a_long_query_a_single_value(printed):
    shown = printed("exercises", "decided")
    assert shown["(0.0, 0.0), weights"] == "0.333 0.333 0.333"
    assert shown["(0.0, 0.0), output"] == "5.000 5.000"
    assert shown["(20.0, 0.0), output"] == "10.000 0.000"
    assert math.exp(-20 / math.sqrt(2)) < 1e-6


@claim("attention#exercises")
@mutation(
    "exercises/attention/fold_the_scale.py",
    "ours.query.bias /= 64**0.5",
    "ours.query.bias /= 1",
    fault="the division is folded into the query weight but not into its bias",
)
def test_the_division_can_be_folded_into_the_query_layer(printed):
    assert printed("exercises", "fold_the_scale")["same output"] == "True"


@claim("attention#exercises")
@mutation(
    "exercises/attention/online_softmax.py",
    "shrink = (largest - new).exp()",
    "shrink = (largest - largest).exp()",
    fault="blocks after the first do not rescale the earlier sum",
)
def test_attention_in_blocks_needs_three_numbers_per_query_and_is_equal(printed):
    shown = printed("exercises", "online_softmax")
    assert shown["same output"] == "True"
    assert shown["scores held at once"] == "2048 instead of 16384"


@claim("attention#exercises")
@mutation(
    "exercises/attention/own_head_size.py",
    "heads, _ = fused_attention(q, k, v)",
    "heads, _ = fused_attention(q / 2, k, v)",
    fault="heads of any size are divided by the root of d_model",
)
def test_heads_may_have_any_size_and_only_the_products_matter(printed):
    shown = printed("exercises", "own_head_size")
    assert shown.pop("with heads that fill d_model, equal to the book's") == "True"
    assert all(value.startswith("(2, 5, 32), ") for value in shown.values())
    assert shown["4 heads, d_k 8, d_v 8"] == shown["1 heads, d_k 32, d_v 32"]


@claim("attention#exercises")
@mutation(
    "exercises/attention/repair.py",
    '("and the scale", ours.split, 8**0.5, 1)',
    '("and the scale", ours.split, 8**0.5, -1)',
    fault="the second repair corrects the axis too",
)
def test_three_mistakes_keep_the_shape_and_only_all_three_repairs_make_it_equal(printed):
    shown = printed("exercises", "repair")
    assert [value.rsplit(" ", 1)[1] for value in shown.values()] == ["False"] * 3 + ["True"]
    assert all(value.startswith("shape (2, 5, 32)") for value in shown.values())
