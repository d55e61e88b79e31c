"""The claims of the chapter on attention."""

import itertools
import math
import runpy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

import pencil_words
from attention_inputs import PATHS, dtypes, random_mask, random_qkv, sizes
from helpers import DOCS, SNIPPETS, few, numbers, seeds
from marks import claim, mutation
from pencil_numbers import pencil_tables, pencil_weight
from transformer import scaled_dot_product_attention

CHAPTER = "attention"


@pytest.fixture(params=list(PATHS))
def attend(request):
    return PATHS[request.param]


# An average, dot products and softmax


WHY, _, WE, WORK = range(4)  # their positions in: why do we work ?


def variables(name: str) -> dict:
    """The variables of an example."""
    return runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / f"{name}.py"))


@claim("attention#dot-products")
def test_without_matrices_work_finds_itself_and_gives_we_the_lowest_score(printed):
    shown = {w: numbers(text) for w, text in printed("examples", "dot_products").items()}
    assert shown == {"we": [1, 0.16], "work": [2, 0.42], "?": [2, 0.42]}


@claim("attention#softmax")
def test_softmax_gives_positive_weights_where_the_quotients_are_no_weights(printed):
    shown = printed("examples", "softmax")
    quotients = numbers(shown["divided by their sum"])
    assert min(quotients) < 0 and max(quotients) > 1
    assert shown["equal to softmax"] == "True"


@claim("attention#softmax", kind="mathematics")
@few
@given(seed=seeds, m=st.integers(2, 6), constant=st.floats(-5, 5))
def test_softmax_depends_on_differences_only_and_a_point_more_is_a_factor_e(seed, m, constant):
    torch.manual_seed(seed)
    scores = torch.randn(m, dtype=torch.float64)
    weights = scores.softmax(dim=-1)
    assert (weights > 0).all()
    assert_close((scores + constant).softmax(dim=-1), weights)
    scores[0] += 1
    more = scores.softmax(dim=-1)
    assert_close(more[0] / more[1], math.e * weights[0] / weights[1])


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


# Queries, keys and values


@claim("attention#one-query")
def test_the_examples_use_the_weights_and_vectors_of_head_0_of_the_pencil_model():
    def vectors(subject):
        table = pencil_tables(f"why do {subject} work ?", decimals=None)["src.sum"]
        return torch.tensor(table.values)

    expected = {"x": vectors("we"), "x_work": vectors("we")[WORK]}
    for part, name in itertools.product(["query", "key", "value"], ["weight", "bias"]):
        own = pencil_weight(f"encoder.layers.0.self_attention.{part}.{name}")
        expected[f"{name[0]}_{part}"] = own[:2].t()  # stored with a row per output
    assert not expected["b_key"].any() and not expected["b_value"].any()
    for example in "query", "one_query", "all_queries", "changed_word":
        shown = variables(example)
        for name in expected.keys() & shown.keys():
            assert_close(shown[name], expected[name], atol=0.0051, rtol=0)
    for subject, vector in shown["subjects"].items():
        assert_close(vector, vectors(subject)[WE], atol=0.0051, rtol=0)


@claim("attention#one-query")
def test_work_takes_the_value_of_we_whose_score_was_the_lowest_without_matrices():
    shown = variables("one_query")
    assert (pencil_words.table @ pencil_words.table[WORK]).tolist() == [-16, 0, -30, 29, 0]
    assert shown["scores"].argmax() == WE
    assert shown["scores"][[WE, WHY]].tolist() == pytest.approx([542.22, -422.53], abs=0.005)
    assert_close(shown["weights"][WE], torch.tensor(1.0))
    assert_close(shown["output"], shown["values"][WE])


@claim("attention#all-queries")
def test_the_matrices_compute_the_same_as_a_loop_over_the_queries(printed):
    assert printed("examples", "all_queries")["equal to a loop over the queries"] == "True"
    shown, alone = variables("all_queries"), variables("one_query")
    assert_close(shown["scores"][WORK], alone["scores"])
    assert_close(shown["output"][WORK], alone["output"])


# By hand, and the formula


@claim("attention#by-hand")
@mutation(
    "examples/attention/self_attention.py",
    "key = x @ w_key",
    "key = x @ w_query",
    fault="the example computes the keys with the matrix of the queries",
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_numbers_computed_by_hand_on_the_page_match_the_code(language):
    shown = variables("self_attention")
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    page = page.split("{ #average }")[1].split("{ #formula }")[0]
    query, key = (shown["x"] @ shown[f"w_{name}"] for name in ("query", "key"))
    for row in shown["x"].tolist():
        assert "$({:g}, {:g}, {:g})$".format(*row) in page
    rows = (query @ key.T).tolist()
    assert r" \\ ".join(" & ".join(f"{x:g}" for x in row) for row in rows) in page
    work = 1
    scaled = (query @ key.T)[work] / 2**0.5
    for number in (*scaled, *scaled.exp(), scaled.exp().sum(), *shown["weights"][work]):
        assert f"{round(number.item(), 3):g}" in page
    assert "({:.2f}, {:.2f})".format(*shown["output"][work].tolist()) in page


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


# Why the root


@claim("attention#why-sqrt-dk", kind="mathematics")
def test_the_variance_of_a_dot_product_is_d_k_and_after_scaling_it_is_one():
    torch.manual_seed(1)
    query, key = torch.randn(2, 20_000, 64)
    products = (query * key).sum(dim=-1)
    assert products.var().item() == pytest.approx(64, rel=0.05)
    assert (products / 64**0.5).var().item() == pytest.approx(1, rel=0.05)


@claim("attention#why-sqrt-dk", kind="mathematics")
def test_without_the_division_one_key_wins_and_the_slopes_of_most_keys_nearly_vanish():
    torch.manual_seed(0)
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
    assert median[64, True] > 5e-3 and median[64, False] < 1e-8 and median[512, False] < 1e-20
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


# The code, and what it is for


@claim("attention#code")
@mutation(
    "examples/attention/self_attention.py",
    "scores / math.sqrt(query.size(-1))",
    "scores / math.sqrt(query.size(-2))",
    fault="the function on the page divides by the root of the number of queries",
)
@few
@given(seed=seeds, n=sizes, d=sizes, d_k=sizes, d_v=sizes)
def test_the_function_of_the_page_computes_the_same_as_that_of_the_model(seed, n, d, d_k, d_v):
    torch.manual_seed(seed)
    x = torch.randn(n, d)
    maps = [torch.randn(d, size) for size in (d_k, d_k, d_v)]
    expected = scaled_dot_product_attention(*(x @ matrix for matrix in maps))
    ours = variables("self_attention")["self_attention"](x, *maps)
    for actual, value in zip(ours, expected, strict=True):
        assert_close(actual, value)


@claim("attention#code")
def test_the_same_query_finds_the_other_subject(printed):
    shown = printed("examples", "changed_word")
    assert shown["we, weight from work"] == shown["they, weight from work"] == "1.00"
    assert shown["we, output of work"] == "6.02 0.00"
    assert shown["they, output of work"] == "-5.98 0.00"


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


@claim("attention-in-practice#numerics")
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


@claim("attention-in-practice#fused-code")
@pytest.mark.parametrize("shape", [(5,), (4, 1), (3, 1, 1)], ids=str)
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


@claim("attention#exercises")
def test_a_key_that_occurs_twice_gets_a_larger_weight_in_all(printed):
    shown = printed("exercises", "twice")
    assert shown["weights"].split()[:2] == ["0.434", "0.434"]
    assert shown["both copies of we"] == "0.869"
