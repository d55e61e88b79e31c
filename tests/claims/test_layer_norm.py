"""The claims of the chapter on layer normalization."""

import inspect
import math
import re
import runpy
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from evidence.comparisons import compare_layer_norm
from helpers import DOCS, DTYPES, SNIPPETS, few, normal, numbers
from marks import claim, mutation
from transformer import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Transformer,
    TransformerConfig,
)

CHAPTER = "layer-norm"
layer_norm = runpy.run_path(str(SNIPPETS / "examples/layer-norm/formula.py"))["layer_norm"]
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


def layer_with(*sublayers, **changes):
    """A layer that has functions of x in place of its attention, or two, and its network."""
    layer = (EncoderLayer if len(sublayers) == 2 else DecoderLayer)(config(**changes))
    *attentions, network = sublayers
    names = "self_attention", "cross_attention"
    for name, function in zip(names, attentions, strict=False):
        getattr(layer, name).forward = lambda x, *_, f=function: (f(x), None)
    layer.feed_forward.forward = lambda x: network(x)
    return layer


def norms_of(layer):
    return [part for part in layer.children() if isinstance(part, LayerNorm)]


def both_norms(norm):
    """A LayerNorm by the formula and by the class."""
    return with_formula(norm), norm


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def run_file(kind, name):
    return runpy.run_path(str(SNIPPETS / kind / CHAPTER / f"{name}.py"), run_name="__main__")


# LayerNorm


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "examples/layer-norm/without_norm.py",
    "x = x + self.attend(x, mask)\n        return x + self.feed_forward(x)",
    "x = (x + self.attend(x, mask)) / 2**0.5\n        return (x + self.feed_forward(x)) / 2**0.5",
    fault="the layers without a norm divide their sums by the root of 2",
)
def test_without_the_norm_vectors_grow_and_the_first_loss_is_far_above_uniform_guessing(printed):
    shown = {label: float(value) for label, value in printed("examples", "without_norm").items()}
    assert shown["EncoderLayer, length of a token"] == round(math.sqrt(32), 1)
    assert shown["NoNorm, length of a token"] > 10 * math.sqrt(32)
    assert shown["NoNorm, first loss"] > 4 * math.log(10)
    assert shown["EncoderLayer, first loss"] < 1.5 * math.log(10)


@claim("layer-norm#layer-norm-by-hand")
def test_the_vector_normalized_by_hand_matches_the_code(printed, dtype):
    norm = LayerNorm(4, eps=0.0).to(dtype)
    x = torch.tensor(X, dtype=dtype)
    for y in (way(x) for way in both_norms(norm)):
        torch.testing.assert_close(y, torch.tensor(Y, dtype=dtype), **tolerances(dtype))
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1, 1, 2, 2]))
        norm.bias.copy_(torch.tensor([0, 0, 0, 1]))
    expected = torch.tensor([-1, -1 / 3, -2 / 3, 13 / 3], dtype=dtype)
    for y in (way(x) for way in both_norms(norm)):
        torch.testing.assert_close(y, expected, **tolerances(dtype))
    shown = printed("examples", "layer_norm_by_hand")
    assert (shown["mean"], shown["variance"], shown["standard deviation"]) == ("4.0", "9.0", "3.0")
    assert numbers(shown["centered"]) == [-3, -1, -1, 5]
    assert numbers(shown["divided"]) == numbers(shown["nn.LayerNorm"])


@claim("layer-norm#layer-norm-by-hand", kind="mathematics")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_steps_of_layer_norm_computed_by_hand_on_the_page_are_correct(language):
    page = (DOCS / language / "layer-norm.md").read_text(encoding="utf-8")

    def as_tex(number: Fraction) -> str:
        if number.denominator == 1:
            return str(number)
        sides = [str(abs(number.numerator)), str(number.denominator)]
        if max(map(len, sides)) > 1:
            sides = [f"{{{side}}}" for side in sides]
        return rf"{'-' * (number < 0)}\frac{''.join(sides)}"

    x = [Fraction(number) for number in (1, 3, 3, 9)]
    centered = [number - sum(x) / 4 for number in x]
    assert sum(number**2 for number in centered) / 4 == 3**2
    divided = [number / 3 for number in centered]
    affine = [y * w + b for y, w, b in zip(divided, (1, 1, 2, 2), (0, 0, 0, 1), strict=True)]
    for step in (x, centered, divided, affine):
        assert f"({', '.join(map(as_tex, step))})" in page


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "examples/layer-norm/formula.py",
    "variance = centered.square().mean(dim=-1, keepdim=True)",
    "variance = x.var(dim=-1, keepdim=True)",
    fault="the formula uses the unbiased variance",
)
@mutation(
    "examples/layer-norm/formula.py",
    "rsqrt() * weight + bias",
    "rsqrt().add(bias) * weight",
    fault="the formula adds the bias before it multiplies by the weight",
)
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x, self.weight.shape, self.weight, None, self.eps",
    fault="the class does not pass on its bias",
)
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


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n",
    "            x, self.weight.shape, self.weight, self.bias.detach(), self.eps\n",
    fault="the class gives its bias no gradient",
)
def test_at_512_features_the_class_equals_torch_up_to_rounding(printed):
    assert printed("examples", "same_as_torch") == {
        f"{dtype}, all 4 agree within": within
        for dtype, within in (("torch.float32", "1e-05"), ("torch.float64", "1e-13"))
    }


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "examples/layer-norm/formula.py",
    "rsqrt() * weight + bias",
    "rsqrt().sqrt() * weight + bias",
    fault="the formula takes the fourth root",
)
def test_the_formula_of_the_example_gives_both_tokens_the_values_of_torch(printed):
    shown = printed("examples", "formula")
    for i, expected in enumerate(([-1, -0.333, -0.333, 1.667], [-0.577] * 3 + [1.732])):
        for name in "formula", "nn.LayerNorm":
            assert numbers(shown[f"{name}, token {i}"]) == expected


@claim("layer-norm#layer-norm-by-hand")
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


@claim("layer-norm#one-token")
@few
@given(batch=st.integers(2, 4), positions=st.integers(2, 5), seed=seeds)
def test_each_token_is_normalized_independently(batch, positions, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        x = torch.randn(batch, positions, 6, dtype=dtype)
        for way in both_norms(LayerNorm(6).to(dtype)):
            y = way(x)
            for i in range(batch):
                for j in range(positions):
                    torch.testing.assert_close(y[i, j], way(x[i, j]), **tolerances(dtype))


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
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)",
    fault="the class computes RMSNorm",
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
    "self.eps = eps",
    "self.eps = eps or 1e-5",
    fault="an epsilon of 0 becomes the default",
)
@few
@given(factor=st.floats(0.01, 100), seed=seeds)
def test_scaling_a_token_by_a_factor_divides_its_gradient_by_the_factor(factor, seed):
    torch.manual_seed(seed)
    norm = LayerNorm(8, eps=0.0).double()
    x = torch.randn(8, dtype=torch.float64)
    arriving = torch.randn(8, dtype=torch.float64)
    gradients = []
    for token in x, factor * x:
        token = token.clone().requires_grad_()
        gradients += torch.autograd.grad(norm(token), token, arriving)
    torch.testing.assert_close(gradients[0] / factor, gradients[1])


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "x = x - x.mean(dim=-1, keepdim=True)\n"
    "        return x / (x.std(dim=-1, keepdim=True) + self.eps)",
    fault="the class divides by the unbiased deviation",
)
def test_with_two_features_only_their_order_is_kept(dtype):
    norm = LayerNorm(2, eps=0.0).to(dtype)
    x = torch.randn(50, 2, dtype=dtype)
    larger = (x[:, 0] > x[:, 1]).to(dtype) * 2 - 1
    torch.testing.assert_close(norm(x), torch.stack([larger, -larger], 1), **tolerances(dtype))
    assert not LayerNorm(1)(torch.randn(50, 1)).any()


# Exercises


@claim("layer-norm#exercises")
@mutation(
    "transformer.py",
    "self.weight = nn.Parameter(torch.ones(d_model))",
    "self.weight = nn.Parameter(torch.rand(d_model))",
    fault="LayerNorm starts with random weights",
)
def test_the_example_with_few_features_matches_the_formula(capsys):
    run_file("exercises", "few_features")
    rows = [line.split(": ") for line in capsys.readouterr().out.splitlines()]
    values = {d: [row.split() for name, row in rows if name == f"d = {d}"] for d in (1, 2, 3)}
    assert all(row == ["0.000"] for row in values[1])
    assert all(sorted(row) == ["-1.000", "1.000"] for row in values[2])
    for row in values[3]:
        assert abs(sum(float(number) ** 2 for number in row) - 3) < 0.01


@claim("layer-norm#exercises")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "centered = x - x.mean(dim=-1, keepdim=True)\n"
    "        variance = centered.square().mean(dim=-1, keepdim=True)\n"
    "        return centered * (variance + self.eps).rsqrt() * self.weight + self.bias",
    fault="the class computes the formula, which overflows in float16",
)
def test_in_float16_large_features_become_zeros_in_the_function_and_not_in_the_class(printed):
    x = torch.tensor([-300.0, -100, -100, 500], dtype=torch.float16)
    norm = LayerNorm(4).half()
    assert not with_formula(norm)(x).any()
    torch.testing.assert_close(norm(x).float(), torch.tensor(Y), rtol=0, atol=1e-3)
    shown = printed("exercises", "half_precision")
    assert shown["500 squared"] == "inf"
    assert numbers(shown["the function"]) == [0, 0, 0, 0]
    assert numbers(shown["the class"]) == numbers(shown["repaired"]) == [-1, -0.33, -0.33, 1.67]


@claim("layer-norm#exercises")
@mutation(
    "exercises/layer-norm/repair.py",
    "return x + dropout(sublayer(norm(x)))",
    "return dropout(x + sublayer(norm(x)))",
    fault="the repaired block still applies dropout to the residual path",
)
def test_the_published_block_applies_norm_and_dropout_to_the_residual_path(printed):
    shown = printed("exercises", "repair")
    assert numbers(shown["repaired"]) == X
    assert numbers(shown["published"]) != X
    assert 0.0 in numbers(shown["published"])


@claim("layer-norm#exercises")
def test_in_post_norm_a_hundredth_of_the_input_is_left_after_twelve_layers(printed):
    shown = {k: float(v) for k, v in printed("exercises", "what_is_left").items()}
    assert 0.005 < shown["x counts, after layer 12"] < 0.02
    assert sorted(shown.values(), reverse=True) == list(shown.values())


# Post-norm and pre-norm


@claim("layer-norm#post-and-pre", kind="measurement")
@pytest.mark.parametrize(
    ("name", "before", "after"), [("olmo2", False, True), ("gemma3", True, True)]
)
def test_some_models_normalize_the_output_of_a_sublayer_before_the_sum(name, before, after):
    from transformers.models.gemma3 import modeling_gemma3
    from transformers.models.olmo2 import modeling_olmo2

    layer = {
        "olmo2": modeling_olmo2.Olmo2DecoderLayer,
        "gemma3": modeling_gemma3.Gemma3DecoderLayer,
    }[name]
    source = inspect.getsource(layer.forward)
    lines = [line.strip() for line in source.splitlines()]
    attention = next(i for i, line in enumerate(lines) if "self.self_attn(" in line)
    total = next(i for i, line in enumerate(lines) if line.startswith("hidden_states = residual +"))
    normalized = [i for i, line in enumerate(lines) if "layernorm(" in line]
    assert any(i < attention for i in normalized) == before
    assert any(attention < i < total for i in normalized) == after


@claim("layer-norm#post-and-pre")
@few
@given(d=st.integers(2, 6), count=st.sampled_from([2, 3]), norm_first=st.booleans(), seed=seeds)
def test_each_residual_order_matches_its_formula(d, count, norm_first, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        sublayers = [nn.Linear(d, d, dtype=dtype) for _ in range(count)]
        layer = layer_with(*sublayers, d_model=d, nhead=1, norm_first=norm_first).to(dtype)
        x = torch.randn(2, 3, d, dtype=dtype)
        norms = [nn.LayerNorm(d, dtype=dtype) for _ in range(count)]
        with torch.no_grad():
            for norm in norms:
                norm.weight.normal_()
                norm.bias.normal_()
        for part, norm in zip(norms_of(layer), norms, strict=True):
            part.load_state_dict(norm.state_dict())
        expected = x
        for f, norm in zip(sublayers, norms, strict=True):
            expected = expected + f(norm(expected)) if norm_first else norm(expected + f(expected))
        y = layer(x) if count == 2 else layer(x, x)
        torch.testing.assert_close(y, expected, rtol=1e-3, atol=1e-3)


@claim("layer-norm#post-and-pre")
@mutation(
    "transformer.py",
    "self.norm3 = LayerNorm(d, config.layer_norm_eps)",
    "self.norm3 = LayerNorm(d)",
    fault="the last norm of a decoder layer takes the default epsilon",
)
def test_the_norms_of_a_layer_take_their_width_and_epsilon_from_the_configuration():
    settings = config(d_model=4, layer_norm_eps=0.5)
    for layer, count in (EncoderLayer(settings), 2), (DecoderLayer(settings), 3):
        assert [norm.weight.shape for norm in norms_of(layer)] == [(4,)] * count
        assert [norm.eps for norm in norms_of(layer)] == [0.5] * count


@claim("layer-norm#post-and-pre")
def test_with_a_zero_sublayer_only_pre_norm_returns_its_input(printed, dtype):
    x = torch.tensor([[X]], dtype=dtype)
    for norm_first, expected in (True, X), (False, Y):
        settings = {"d_model": 4, "norm_first": norm_first, "layer_norm_eps": 0.0}
        y = layer_with(torch.zeros_like, torch.zeros_like, **settings).to(dtype)(x)
        torch.testing.assert_close(y, torch.tensor([[expected]], dtype=dtype), **tolerances(dtype))
    shown = printed("examples", "silent")
    assert numbers(shown["pre-norm"]) == X
    assert shown["post-norm"] == shown["x overwritten by its norm"]


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


# The module


@claim("layer-norm#residual-code")
@mutation(
    "transformer.py",
    "x = self.norm1(x + self.attend(x, mask))\n        return",
    "x = x + self.norm1(self.attend(x, mask))\n        return",
    fault="an encoder layer normalizes the output of self-attention before the sum",
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_lines_of_the_page_are_those_of_both_layers(language):
    page = (DOCS / language / f"{CHAPTER}.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ +`(x = .*self\.attend\(.*\))`$", page, re.M)
    assert len(lines) == 2
    for layer in EncoderLayer, DecoderLayer:
        assert all(f"  {line}\n" in inspect.getsource(layer.forward) for line in lines)


@claim("layer-norm#residual-code")
def test_post_norm_tokens_have_the_length_root_d_and_pre_norm_tokens_grow(printed):
    shown = printed("examples", "stream")
    for layer in 1, 6, 12:
        assert shown[f"post-norm, layer {layer}, length"] == f"{math.sqrt(128):.1f}"
    lengths = [float(shown[f"pre-norm, layer {layer}, length"]) for layer in (1, 6, 12)]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 30
    x = normal(50, 128)
    shorter = x - layer_norm(x, torch.ones(128), torch.zeros(128), 1e-5) / 2
    assert (shorter.norm(dim=-1) < x.norm(dim=-1)).all()
    assert shown["pre-norm, at the end"] == f"{math.sqrt(128):.1f}"
    post, pre = (
        [float(shown[f"{kind}, layer {layer}, change"]) for layer in (1, 6, 12)]
        for kind in ("post-norm", "pre-norm")
    )
    assert pre == sorted(pre, reverse=True)
    assert post == sorted(post)


@claim("layer-norm#residual-code")
@pytest.mark.parametrize("norm_first", [False, True])
def test_a_stack_ends_with_a_norm_if_and_only_if_norm_first(norm_first):
    model = Transformer(config(norm_first=norm_first))
    for stack in model.encoder, model.decoder:
        assert isinstance(stack.norm, LayerNorm) is norm_first


# Dropout


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "self.cross_attention = MultiHeadAttention(d, config.nhead, dropout)",
    "self.cross_attention = MultiHeadAttention(d, config.nhead)",
    fault="cross-attention gets no dropout",
)
def test_dropout_is_applied_in_four_places(printed, capsys):
    run_file("examples", "dropout_places")
    lines = capsys.readouterr().out.splitlines()
    assert sum("position.dropout" in line for line in lines) == 1
    assert sum("on its weights" in line for line in lines) == 3
    assert sum("feed_forward.dropout" in line for line in lines) == 2
    assert sum("coder.layers.0.dropout" in line for line in lines) == 2
    assert len(lines) == 8
    assert all(line.endswith(" 0.1") for line in lines)


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return self.norm3(x + self.dropout(self.feed_forward(x)))",
    "return self.norm3(self.dropout(x + self.feed_forward(x)))",
    fault="in post-norm the last dropout of a decoder layer comes after the sum",
)
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(("count", "place"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_a_layer_applies_dropout_only_to_the_sublayer_outputs(count, place, norm_first):
    sublayers = [torch.ones_like if i == place else torch.zeros_like for i in range(count)]
    layer = layer_with(*sublayers, d_model=1000, dropout=0.25, norm_first=norm_first)
    for norm in norms_of(layer):
        norm.forward = lambda x: x
    x = torch.full((1, 40, 1000), 5.0)
    inputs = (x,) if count == 2 else (x, x)
    y = layer(*inputs)
    torch.testing.assert_close(y.unique(), torch.tensor([5.0, 5 + 4 / 3]))
    assert abs((y == 5.0).double().mean().item() - 0.25) < 0.02
    assert torch.equal(layer.eval()(*inputs), x + 1)


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return self.linear2(self.dropout(hidden))",
    "return self.dropout(self.linear2(hidden))",
    fault="the feed-forward network applies dropout to its output instead of its hidden units",
)
def test_the_network_applies_dropout_to_hidden_units():
    network = FeedForward(1000, 1000, dropout=0.25)
    with torch.no_grad():
        for linear in network.linear1, network.linear2:
            linear.weight.copy_(torch.eye(1000))
            linear.bias.fill_(1.0)
    y = network(torch.full((40, 1000), 2.0))  # hidden: 3
    torch.testing.assert_close(y.unique(), torch.tensor([1.0, 5.0]))  # never 0: not the output
    assert abs((y == 1.0).double().mean().item() - 0.25) < 0.02
    assert network.eval()(torch.full((1, 1000), 2.0)).unique().tolist() == [4.0]


@claim("layer-norm#dropout")
def test_dropout_after_the_sum_would_lose_most_of_the_residual_path(printed):
    shown = printed("examples", "dropout_on_the_road")
    assert shown["dropped before the sum, lost of x"] == "0%"
    assert shown["dropped after the sum, lost of x"] == f"{1 - 0.9**12:.0%}"


@claim("layer-norm#dropout")
def test_sum_and_norm_inside_the_sublayer_class_differ_only_in_one_dropout(dtype):
    class WithSumAndNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 16)
            self.dropout, self.norm = nn.Dropout(0.5), nn.LayerNorm(16)

        def forward(self, x):
            return self.norm(x + self.dropout(self.second(self.first(x).relu())))

    theirs = WithSumAndNorm().to(dtype)
    layer = EncoderLayer(config(dropout=0.5)).to(dtype)
    network = layer.feed_forward = FeedForward(16, 32, dropout=0.0).to(dtype)
    network.linear1, network.linear2 = theirs.first, theirs.second
    layer.attend = lambda x, mask: torch.zeros_like(x)
    layer.norm1 = nn.Identity()
    x = torch.randn(2, 5, 16, dtype=dtype)
    results = []
    for block in theirs, layer:
        torch.manual_seed(1)
        results.append(block(x))
    torch.testing.assert_close(*results, **tolerances(dtype))
