"""The claims of the chapter on layer normalization."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from evidence.comparisons import compare_layer_norm
from helpers import DOCS, DTYPES, few, numbers, run_snippet
from marks import claim, mutation
from transformer import (
    EncoderLayer,
    FeedForward,
    LayerNorm,
    TransformerConfig,
)

CHAPTER = "layer-norm"
layer_norm = run_snippet("examples", CHAPTER, "formula")[0]["layer_norm"]
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
X = [1.0, 3.0, 3.0, 9.0]  # the vector that the page does by hand
Y = [-1.0, -1 / 3, -1 / 3, 5 / 3]


def tolerances(dtype):
    return {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-12}


def config(**changes):
    sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "dropout": 0.0}
    return TransformerConfig(9, 12, **(sizes | changes))


def with_formula(norm):
    """The formula, with the weight, the bias and the eps of a module."""
    return lambda x: layer_norm(x, norm.weight, norm.bias, norm.eps)


def both_norms(norm):
    """A LayerNorm by the formula and by the class."""
    return with_formula(norm), norm


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


# LayerNorm


@claim("layer-norm#growth")
def test_twelve_vectors_at_a_right_angle_make_a_token_64_times_as_long(printed):
    assert (torch.tensor(X) + torch.tensor([3, -1, 9, -3])).tolist() == [4, 2, 12, 6]
    lengths = [float(length) for length in printed("examples", "stack").values()]
    rule = torch.tensor([1, 64**2, 1, 13]).mul(512).sqrt().tolist()
    assert lengths == pytest.approx(rule, rel=0.01)


@claim("layer-norm#growth", kind="measurement")
def test_the_output_of_an_untrained_network_is_nearly_at_a_right_angle_to_its_input():
    x = torch.randn(200, 512)
    with torch.no_grad():
        y = FeedForward(512, 2048, 0.0)(x)
    assert nn.functional.cosine_similarity(x, y).abs().mean() < 0.1


@claim("layer-norm#layer-norm-by-hand")
def test_the_vector_normalized_by_hand_matches_the_code(printed, dtype):
    norm = LayerNorm(4, eps=0.0).to(dtype)
    x = torch.tensor(X, dtype=dtype)
    for way in both_norms(norm):
        torch.testing.assert_close(way(x), torch.tensor(Y, dtype=dtype), **tolerances(dtype))
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1, 1, 2, 2]))
        norm.bias.copy_(torch.tensor([0, 0, 0, 1]))
    expected = torch.tensor([-1, -1 / 3, -2 / 3, 13 / 3], dtype=dtype)
    for way in both_norms(norm):
        torch.testing.assert_close(way(x), expected, **tolerances(dtype))
    for token in range(3):
        shown = printed("examples", "formula")[f"token {token}"]
        assert numbers(shown) == [-1, -0.33, -0.33, 1.67]
    for language in "en", "zh":
        page = (DOCS / language / "layer-norm.md").read_text(encoding="utf-8")
        for vector in (
            "(1, 3, 3, 9)",
            "(-3, -1, -1, 5)",
            r"(-1, -\frac13, -\frac13, \frac53)",
            r"(-1, -\frac13, -\frac23, \frac{13}{3})",
        ):
            assert vector in page


@claim("layer-norm#layer-norm-code")
@few
@given(
    shape=st.lists(sizes, min_size=1, max_size=3),
    seed=seeds,
    scale=st.floats(1e-3, 1e3),
    eps=st.sampled_from([1e-5, 0.1]),
)
def test_formula_and_class_equal_torch(shape, seed, scale, eps):
    torch.manual_seed(seed)
    d = shape[-1] + 1
    for dtype in DTYPES:
        x = (scale * torch.randn(*shape[:-1], d, dtype=torch.float64)).to(dtype).requires_grad_()
        compare_layer_norm(x, eps)  # the class, forward and backward
        weight, bias = torch.randn(2, d, dtype=dtype)
        expected = nn.functional.layer_norm(x, (d,), weight, bias, eps)
        atol = 2e-3 if dtype == torch.float32 else 1e-8
        torch.testing.assert_close(layer_norm(x, weight, bias, eps), expected, rtol=0, atol=atol)


@claim("layer-norm#gamma-and-beta")
@mutation(
    "transformer.py",
    "self.bias = nn.Parameter(torch.zeros(d_model))",
    "self.bias = nn.Parameter(torch.ones(d_model))",
    fault="LayerNorm starts with a bias of ones",
)
def test_the_weight_starts_as_ones_and_the_bias_as_zeros():
    norm = LayerNorm(5)
    assert {name: p.tolist() for name, p in norm.named_parameters()} == {
        "weight": [1.0] * 5,
        "bias": [0.0] * 5,
    }
    assert norm.eps == 1e-5


# One token


@claim("layer-norm#layer-norm-by-hand")
@few
@given(batch=st.integers(2, 4), positions=st.integers(2, 5), seed=seeds)
def test_each_token_is_normalized_independently(batch, positions, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        x = torch.randn(batch, positions, 6, dtype=dtype)
        for way in both_norms(LayerNorm(6).to(dtype)):
            alone = torch.stack([way(token) for token in x.flatten(0, 1)])
            torch.testing.assert_close(way(x).flatten(0, 1), alone, **tolerances(dtype))


@claim("layer-norm#layer-norm-by-hand")
def test_only_batch_norm_lets_another_token_change_a_token(printed):
    shown = printed("examples", "one_token")
    for name, same in ("LayerNorm", True), ("BatchNorm", False):
        before, after = shown[f"{name}, token 0"], shown[f"{name}, token 0, another token 1"]
        assert (before == after) is same


# Distributions


@claim("layer-norm#distribution")
@few
@given(d=st.integers(2, 64), seed=seeds)
def test_each_token_gets_mean_0_and_variance_1(d, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        x = torch.empty(20, d, dtype=dtype).exponential_() * 100 + 5
        size = {"rtol": 0, "atol": 1e-3 if dtype == torch.float32 else 1e-9}
        for y in (way(x) for way in both_norms(LayerNorm(d, eps=0.0).to(dtype))):
            torch.testing.assert_close(y.mean(-1), torch.zeros(20, dtype=dtype), **size)
            torch.testing.assert_close(y.var(-1, correction=0), torch.ones(20, dtype=dtype), **size)


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x.abs(), self.weight.shape, self.weight, self.bias, self.eps",
    fault="the class normalizes the absolute values",
)
@few
@given(scale=st.floats(0.1, 100), shift=st.floats(-10, 10), seed=seeds)
def test_layer_norm_discards_the_mean_and_the_length(scale, shift, seed):
    torch.manual_seed(seed)
    norm = LayerNorm(8, eps=0.0).double()
    x = torch.randn(3, 8, dtype=torch.float64)
    torch.testing.assert_close(norm(scale * x + shift), norm(x), rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(norm(x).norm(dim=-1), torch.full((3,), 8**0.5).double())


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x, self.weight.shape, self.weight, self.bias, 1.0",
    fault="the class adds 1 to the variance",
)
def test_with_two_features_only_their_order_is_kept(dtype):
    norm = LayerNorm(2, eps=0.0).to(dtype)
    x = torch.randn(50, 2, dtype=dtype)
    larger = (x[:, 0] > x[:, 1]).to(dtype) * 2 - 1
    torch.testing.assert_close(norm(x), torch.stack([larger, -larger], 1), **tolerances(dtype))
    assert not LayerNorm(1)(torch.randn(50, 1)).any()


# Exercises


@claim("layer-norm#exercises")
def test_in_float16_large_features_become_zeros_in_the_function_and_not_in_the_class(printed):
    x = torch.tensor([-300.0, -100, -100, 500], dtype=torch.float16)
    norm = LayerNorm(4).half()
    assert not with_formula(norm)(x).any()
    torch.testing.assert_close(norm(x).float(), torch.tensor(Y), rtol=0, atol=1e-3)
    shown = printed("exercises", "half_precision")
    assert numbers(shown["the class"]) == numbers(shown["repaired"]) == [-1, -0.33, -0.33, 1.67]


# Post-norm and pre-norm


@claim("layer-norm#post-and-pre")
def test_with_a_zero_sublayer_only_pre_norm_returns_its_input(dtype):
    x = torch.tensor([[X]], dtype=dtype)
    for norm_first, row in (True, X), (False, Y):
        layer = EncoderLayer(config(d_model=4, norm_first=norm_first, layer_norm_eps=0.0)).to(dtype)
        layer.self_attention.forward = lambda x, *_: (torch.zeros_like(x), None)
        layer.feed_forward.forward = torch.zeros_like
        expected = torch.tensor([[row]], dtype=dtype)
        torch.testing.assert_close(layer(x), expected, **tolerances(dtype))


@claim("layer-norm#post-and-pre")
def test_a_pre_norm_output_is_the_input_plus_all_sublayer_outputs(dtype):
    layers = [EncoderLayer(config(norm_first=True)).to(dtype) for _ in range(6)]
    added = []
    for layer in layers:
        layer.self_attention.register_forward_hook(lambda *a: added.append(a[-1][0]))
        layer.feed_forward.register_forward_hook(lambda *a: added.append(a[-1]))
    x = start = torch.randn(2, 3, 16, dtype=dtype)
    for layer in layers:
        x = layer(x)
    assert len(added) == 12
    torch.testing.assert_close(x, start + sum(added), **tolerances(dtype))
