"""The claims of the chapter on attention."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from attention_inputs import PATHS, dtypes, random_mask, random_qkv, sizes
from helpers import DOCS, SNIPPETS, few, seeds
from marks import claim, mutation
from transformer import scaled_dot_product_attention

CHAPTER = "attention"


@pytest.fixture(params=list(PATHS))
def attend(request):
    return PATHS[request.param]


# In one minute


# A soft dictionary


@claim("attention#soft-lookup", kind="mathematics")
def test_in_a_hard_lookup_the_values_get_a_gradient_and_the_query_and_the_keys_get_none():
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    values = torch.tensor([10.0, 20.0], requires_grad=True)

    def look_up(query):
        return (keys == query).all(dim=-1).to(values.dtype) @ values

    query = torch.tensor([0.0, 1.0], requires_grad=True)
    ((look_up(query) - 15) ** 2).backward()
    assert values.grad.tolist() == [0, 10] and query.grad is None and keys.grad is None
    assert [look_up(query + step).item() for step in (0.0, 1e-3, 2e-3)] == [20, 0, 0]


@claim("attention#soft-lookup", kind="mathematics")
def test_a_long_vector_can_have_a_larger_score_than_one_of_exactly_the_same_direction():
    query, same, longer = torch.tensor([[1.0, 0.0], [1.0, 0.0], [3.0, 1.0]])
    assert query @ longer > query @ same


@claim("attention#soft-lookup")
def test_a_sharp_lookup_is_a_dictionary_and_a_blunt_one_is_an_average(printed):
    shown = printed("examples", "soft_lookup")
    assert shown["second key, sharpness 50"] == "20.0"
    assert shown["second key, sharpness 0"] == "30.0"
    assert shown["halfway to the first key"] == "15.0"
    assert shown["pairs in another order"] == shown["halfway to the first key"]


@claim("attention#soft-lookup")
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes, path=st.sampled_from(list(PATHS)))
def test_the_order_of_the_key_value_pairs_changes_nothing(seed, n, m, d, path):
    query, key, value = random_qkv(seed, n, m, d, d)
    order = torch.randperm(m)
    mask = random_mask(n, m)
    before = PATHS[path](query, key, value, mask)[0]
    after = PATHS[path](query, key[:, :, order], value[:, :, order], mask[..., order])[0]
    assert_close(after, before)


@claim("attention#soft-lookup")
def test_with_a_single_pair_the_output_is_its_value_for_any_query(attend):
    query, key, value = random_qkv(0, 4, 1, 3, 2)
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
    query, key, value = random_qkv(seed, n, m, d, d)
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
    numbers = [x for step in ("scaled", "exponentials", "weights") for x in shown[f"work, {step}"]]
    for number in (*numbers, sum(shown["work, exponentials"])):
        assert f"${number:.5g}$" in by_hand
    assert "({:.2f}, {:.2f})".format(*shown["work, output"]) in by_hand


@claim("attention#formula")
def test_the_example_by_hand_is_what_the_code_computes(attend, dtype):
    query = torch.tensor([[0, 1], [2, 0], [1, 1]], dtype=dtype)
    key = torch.tensor([[2, 0], [0, 2], [1, -1]], dtype=dtype)
    value = torch.tensor([[10, 0], [0, 10], [5, 5]], dtype=dtype)
    expected = torch.tensor([[2.223, 7.777], [8.613, 1.387], [5, 5]], dtype=dtype)
    assert_close(attend(query[None], key[None], value[None])[0][0], expected, atol=5e-4, rtol=0)


@claim("attention#formula")
@few
@given(seed=seeds, n=sizes, m=sizes, d_k=sizes, d_v=sizes, dtype=dtypes)
def test_attention_equals_the_formula_cell_by_cell(seed, n, m, d_k, d_v, dtype):
    query, key, value = random_qkv(seed, n, m, d_k, d_v, dtype)
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
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes)
def test_the_weights_of_each_query_sum_to_one_and_those_of_a_key_to_any_amount(seed, n, m, d):
    query, key, value = random_qkv(seed, n, m, d, d)
    _, weights = scaled_dot_product_attention(query, key, value)
    assert_close(weights.sum(dim=-1), torch.ones(2, 3, n, dtype=torch.float64))
    assert_close(weights.sum(dim=(-1, -2)), torch.full((2, 3), float(n), dtype=torch.float64))


@claim("attention#formula")
def test_a_popular_key_receives_more_than_one_and_a_softmax_over_the_wrong_axis_breaks_the_row_sums(
    printed,
):
    shown = printed("examples", "softmax_axis")
    assert shown["each query gives"] == "1.00 1.00 1.00"
    received = [float(x) for x in shown["each key receives"].split()]
    assert max(received) > 1 and sum(received) == pytest.approx(3, abs=0.02)
    assert shown["wrong axis, each query gives"] != "1.00 1.00 1.00"


@claim("attention#formula")
def test_zero_and_negative_scores_still_get_weight():
    query, key = torch.tensor([[[1.0]]]), torch.tensor([[[2.0], [0.0], [-1.0]]])
    _, weights = scaled_dot_product_attention(query, key, key)
    assert (weights > 0.01).all()


@claim("attention#by-hand", kind="measurement")
def test_in_float32_a_score_far_below_the_largest_gets_the_weight_zero():
    for difference, positive in (100, True), (110, False):
        weights = torch.tensor([0.0, -difference]).softmax(dim=-1)
        assert (weights[1] > 0) == positive


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


@claim("attention#not-closeness")
@few
@given(seed=seeds, m=st.integers(2, 6), d=sizes, factor=st.floats(1.1, 4))
def test_a_longer_query_keeps_the_order_and_sharpens_the_weights(seed, m, d, factor):
    query, key, value = random_qkv(seed, 1, m, d, d)
    _, before = scaled_dot_product_attention(query, key, value)
    _, after = scaled_dot_product_attention(query * factor, key, value)
    assert torch.equal(before.argsort(dim=-1), after.argsort(dim=-1))
    assert (after.amax(dim=-1) > before.amax(dim=-1)).all()


# Why the root


@claim("attention#why-sqrt-dk", kind="mathematics")
@pytest.mark.parametrize("d_k", [16, 64, 256])
def test_the_variance_of_a_dot_product_is_d_k_and_after_scaling_it_is_one(d_k):
    torch.manual_seed(1)
    query, key = torch.randn(2, 20_000, d_k)
    products = (query * key).sum(dim=-1)
    assert products.var().item() == pytest.approx(d_k, rel=0.05)
    assert (products / d_k**0.5).var().item() == pytest.approx(1, rel=0.05)


@claim("attention#why-sqrt-dk")
def test_the_code_divides_by_the_square_root_of_the_head_size():
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, 300, 64)
    _, weights = scaled_dot_product_attention(query, key, key)
    logs = weights.log()  # the scores, but for a constant in each row
    spread = (logs - logs.mean(dim=-1, keepdim=True)).var().item()
    assert spread == pytest.approx(1, rel=0.1)


@claim("attention#why-sqrt-dk")
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


@claim("attention#why-sqrt-dk", kind="mathematics")
def test_divided_by_d_k_itself_the_weights_are_almost_equal_only_if_d_k_is_large():
    torch.manual_seed(0)
    for d_k, low, high in (2, 4, 5), (512, 1, 1.15):
        query, key = torch.randn(500, 1, d_k), torch.randn(500, 64, d_k)
        weights = (query @ key.mT / d_k).softmax(dim=-1)
        assert low < 64 * weights.amax(dim=-1).mean() < high


@claim("attention#why-sqrt-dk", kind="mathematics")
def test_where_two_keys_compete_the_slopes_stay_at_a_quarter():
    scores = 8 * torch.tensor([0.0, 0.0, -3.0], dtype=torch.float64)
    weights = scores.softmax(dim=-1)
    assert_close((weights * (1 - weights))[:2], torch.tensor([0.25, 0.25], dtype=torch.float64))


# Masks


@claim("attention#code")
@few
@given(seed=seeds, n=sizes, m=sizes, d=sizes, path=st.sampled_from(list(PATHS)), dtype=dtypes)
def test_a_forbidden_key_changes_no_output_and_gets_no_gradient(seed, n, m, d, path, dtype):
    query, key, value = random_qkv(seed, n, m, d, d, dtype)
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
@few
@given(seed=seeds, n=sizes, m=sizes)
def test_weights_of_forbidden_keys_are_exactly_zero_and_the_others_sum_to_one(seed, n, m):
    query, key, value = random_qkv(seed, n, m, 4, 4)
    mask = random_mask(n, m)
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    assert not weights[~mask.expand_as(weights)].any()
    sums = weights.sum(dim=-1)
    assert_close(sums, mask.any(dim=-1).double().expand_as(sums))


@claim("attention#code")
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_a_query_with_no_allowed_key_gets_zeros_and_no_gradient_is_nan(attend, dtype):
    query, key, value = random_qkv(0, 4, 5, 8, 6, dtype)
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
    query, key, value = random_qkv(0, 4, 5, 8, 6, dtype)
    output = attend(query, key, value, torch.zeros(4, 5, dtype=torch.bool))[0]
    output.sum().backward()
    assert not output.any()
    for tensor in (query, key, value):
        assert not tensor.grad.any()


@claim("attention#code", kind="mathematics")
@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_query_with_no_allowed_key_gets_nan_from_a_value_that_is_not_finite(attend, number):
    query, key, value = (x.detach() for x in random_qkv(0, 4, 5, 8, 6, torch.float64))
    value[..., 1, 0] = number
    output = attend(query, key, value, torch.zeros(4, 5, dtype=torch.bool))[0]
    assert output[..., 0].isnan().all() and not output[..., 1:].any()


@claim("attention#code", kind="measurement")
def test_minus_a_billion_in_float16_raises_in_masked_fill_and_is_minus_infinity_elsewhere():
    scores = torch.zeros(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="overflow"):
        scores.masked_fill(torch.tensor([True, False]), -1e9)
    assert torch.where(torch.tensor([True, False]), -1e9, scores).tolist() == [-torch.inf, 0]
    scores[torch.tensor([True, False])] = -1e9
    assert scores.tolist() == [-torch.inf, 0]


@claim("attention#code")
@pytest.mark.parametrize(
    "mask", [torch.ones(4, 5), torch.ones(4, 5, dtype=torch.int64)], ids=["float", "int"]
)
def test_a_mask_that_is_not_boolean_is_rejected(attend, mask):
    query, key, value = random_qkv(0, 4, 5, 8, 6)
    with pytest.raises(ValueError, match=f"masks are boolean, True may attend: {mask.dtype}"):
        attend(query, key, value, mask)


@claim("attention#code")
@pytest.mark.parametrize("shape", [(5, 4), (4, 4), (3, 3, 4, 5), (1, 2, 3, 4, 5)], ids=str)
def test_a_mask_that_does_not_broadcast_is_rejected(attend, shape):
    query, key, value = random_qkv(0, 4, 5, 8, 6)
    with pytest.raises(RuntimeError, match="sizes"):
        attend(query, key, value, torch.ones(shape, dtype=torch.bool))


@claim("attention#code")
@pytest.mark.parametrize("shape", [(5,), (4, 5), (1, 5), (4, 1), (3, 1, 1), (2, 1, 1, 5)], ids=str)
def test_a_mask_that_broadcasts_is_equivalent_to_the_full_mask(attend, shape):
    query, key, value = random_qkv(0, 4, 5, 8, 6)
    mask = torch.rand(shape) < 0.6
    whole = mask.expand(2, 3, 4, 5)
    assert_close(attend(query, key, value, mask)[0], attend(query, key, value, whole)[0])


# Exercises


@claim("attention#exercises")
def test_a_zero_query_returns_the_average_and_a_long_query_a_single_value(printed):
    shown = printed("exercises", "decided")
    assert shown["(0.0, 0.0), weights"] == "0.333 0.333 0.333"
    assert shown["(0.0, 0.0), output"] == "5.000 5.000"
    assert shown["(20.0, 0.0), output"] == "10.000 0.000"
    assert math.exp(-20 / math.sqrt(2)) < 1e-6


class LargestScores(TorchDispatchMode):
    """Notes the size of the largest product that is a matrix of scores, not an output."""

    entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.ops.aten.mm.default and result.size(1) != 64:
            self.entries = max(self.entries, result.numel())
        return result


@claim("attention#exercises")
def test_no_matrix_of_scores_in_the_exercise_is_larger_than_a_block():
    source = (SNIPPETS / "exercises" / CHAPTER / "online_softmax.py").read_text(encoding="utf-8")
    by_blocks, comparison, _ = source.partition("expected, _")
    assert comparison
    with LargestScores() as seen:
        exec(by_blocks, {})
    assert seen.entries == 128 * 16


@claim("attention#exercises")
def test_a_key_that_occurs_twice_gets_a_larger_weight_in_all(printed):
    shown = printed("exercises", "twice")
    weights = [float(weight) for weight in shown["weights"].split()]
    assert weights[0] == weights[1]
    assert shown["both copies of we"] == "0.869"
    assert shown["output"] == "9.22 0.78"
