"""The claims of the page on initialization, gradients and warm-up."""

import math
import runpy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from helpers import SNIPPETS, numbers
from marks import claim, mutation
from transformer import (
    LayerNorm,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    initialize,
)

CHAPTER = "initialization"
layer_norm = runpy.run_path(str(SNIPPETS / "examples/layer-norm/formula.py"))["layer_norm"]
X = [1.0, 3.0, 3.0, 9.0]  # the vector that the page does by hand
Y = [-1.0, -1 / 3, -1 / 3, 5 / 3]


def both_norms(norm):
    """A LayerNorm by the formula and by the class."""
    return lambda x: layer_norm(x, norm.weight, norm.bias, norm.eps), norm


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def run_file(kind, name):
    return runpy.run_path(str(SNIPPETS / kind / CHAPTER / f"{name}.py"), run_name="__main__")


# Initialization


@claim("initialization#xavier")
def test_xavier_keeps_the_variance_and_the_other_two_rules_do_not(printed):
    shown = printed("examples", "keep_variance")
    assert shown["Xavier-uniform, after one layer"] == "1.00"
    assert shown["nn.Linear as it comes, after one layer"] == f"{1 / 3:.2f}"
    assert float(shown["nn.Linear as it comes, after six layers"]) < 2 / 3**6
    assert float(shown["N(0, 0.02²), after six layers"]) < 2 * 0.2048**6


@claim("initialization#xavier", kind="measurement")
def test_nn_linear_starts_with_the_variance_1_over_3n():
    torch.manual_seed(0)
    layer = nn.Linear(400, 900)
    assert_close(layer.weight.var().item(), 1 / 1200, rtol=0.02, atol=0)
    assert layer.weight.abs().max() <= 400**-0.5


@claim("initialization#xavier")
def test_packed_query_key_and_value_start_smaller_by_the_root_of_2():
    torch.manual_seed(0)
    packed = nn.MultiheadAttention(256, 2).in_proj_weight.var().item()
    apart = MultiHeadAttention(256, 2)
    apart.apply(initialize)
    ratio = apart.query.weight.var().item() / packed
    assert_close(ratio, 2.0, rtol=0.05, atol=0)


@claim("initialization#kernel")
def test_for_the_backward_pass_the_kernel_saves_only_x_and_the_function_two_tensors_of_its_size(
    printed,
):
    assert printed("examples", "kept_for_backward") == {
        "kept by the function": "2",
        "kept by the kernel": "1",
        "and that is x itself": "True",
    }
    norms = [m for m in Transformer(TransformerConfig(9, 12)).modules() if isinstance(m, LayerNorm)]
    assert len(norms) == 30


# Variance and epsilon


@claim("initialization#details")
def test_the_unbiased_variance_shrinks_the_result_by_a_known_factor(printed):
    shown = printed("examples", "epsilon")
    for d in 4, 64, 512:
        expected = math.sqrt((d - 1) / d)
        assert shown[f"d = {d}, the unbiased deviation makes it"] == f"{expected:.4f}"


@claim("initialization#details")
@pytest.mark.parametrize("deviation", [3.0, 0.003])
def test_epsilon_is_compared_to_the_variance_inside_the_root_and_to_the_deviation_outside(
    deviation, printed
):
    inside = deviation / math.sqrt(deviation**2 + 1e-5)
    for way in both_norms(LayerNorm(4).double()):
        y = way(torch.tensor(X, dtype=torch.float64) * deviation / 3)
        assert abs(y.std(correction=0).item() - inside) < 1e-9
    shown = printed("examples", "epsilon")
    outside = deviation / (deviation + 1e-5)
    assert shown[f"deviation {deviation:g}, eps inside, becomes"] == f"{inside:.4f}"
    assert shown[f"deviation {deviation:g}, eps outside, becomes"] == f"{outside:.4f}"


@claim("initialization#details")
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x, self.weight.shape, self.weight, self.bias, 0.0",
    fault="LayerNorm adds no epsilon",
)
def test_equal_features_give_zeros_and_a_finite_gradient(dtype):
    for way in both_norms(LayerNorm(4).to(dtype)):
        x = torch.full((2, 3, 4), 7.0, dtype=dtype, requires_grad=True)
        y = way(x)
        assert not y.any()
        y[..., 0].sum().backward()
        assert x.grad.isfinite().all()
        assert x.grad.abs().max() <= 1e-5**-0.5


@claim("initialization#details")
def test_epsilon_outside_the_root_gives_nan_for_equal_features(printed):
    shown = printed("examples", "equal_numbers")
    assert all(map(math.isnan, numbers(shown["outside, gradient"])))
    assert numbers(shown["by_std, gradient"])[0] == 0.75 / 1e-5


@claim("initialization#skew")
def test_the_skewness_of_a_token_is_preserved_and_features_become_dependent(printed):
    shown = printed("examples", "distribution")
    assert shown["skew of a token, before"] == shown["skew of a token, after"]
    assert float(shown["skew of a token, after"]) > 1.9
    for d in 2, 4, 64:
        expected = shown[f"d = {d}, -1 / (d - 1)"]
        assert shown[f"d = {d}, correlation of two features"] == expected


@claim("initialization#skew", kind="mathematics")
def test_the_skewness_of_the_worked_vector_is_24_over_27():
    for vector, mean in (X, 4), (Y, 0):
        centered = [v - mean for v in vector]
        deviation = math.sqrt(sum(c**2 for c in centered) / 4)
        assert math.isclose(sum(c**3 for c in centered) / 4 / deviation**3, 24 / 27)


# Gradients


@claim("initialization#gradients")
def test_only_the_post_norm_decoder_has_unequal_gradients(printed):
    shown = printed("examples", "gradients_by_layer")
    ratio = {
        label.removesuffix(", the last over the first"): float(value)
        for label, value in shown.items()
        if label.endswith("first")
    }
    assert ratio["post-norm, decoder"] > 20
    for rest in "post-norm, encoder", "pre-norm, encoder", "pre-norm, decoder":
        assert 1 / 4 < ratio[rest] < 4
    assert abs(math.log(ratio["post-norm, encoder"])) < abs(math.log(ratio["pre-norm, encoder"]))
    for stack in "encoder", "decoder":
        last = [
            float(shown[f"{kind}, {stack}, layers 1 and 12"].split()[-1])
            for kind in ("post-norm", "pre-norm")
        ]
        assert last[0] > last[1]


@claim("initialization#gradients")
def test_pre_norm_gradients_are_within_a_factor_of_four_and_post_norm_decoder_gradients_grow():
    gradient_norms = run_file("examples", "gradients_by_layer")["gradient_norms"]
    for row in gradient_norms(True, seeds=1):
        assert row.max() < 4 * row.min()
    climbing = gradient_norms(False, seeds=1)[1].tolist()
    assert climbing == sorted(climbing)


@claim("initialization#gradients")
def test_the_post_norm_decoder_loses_its_gradient_at_cross_attention(printed):
    shown = printed("examples", "gradient_factors")
    post = "post-norm decoder, {} leaves".format
    assert abs(float(shown[post("cross-attention")]) - math.sqrt(0.5)) < 0.02
    for part in "self-attention", "feed-forward":
        assert abs(float(shown[post(part)]) - 1) < 0.05
        assert abs(float(shown[f"pre-norm decoder, {part} leaves"]) - 1) < 0.05
    assert shown["pre-norm decoder, cross-attention leaves"] == "1.00"


@claim("initialization#gradients")
def test_after_a_deep_encoder_cross_attention_adds_a_vector_as_long_as_x_that_ignores_x():
    ratios, ends = {}, []
    for encoder_layers in 1, 12:
        torch.manual_seed(0)
        model = Transformer(TransformerConfig(1000, 1000, 128, 8, encoder_layers, 12, 512, 0.0))
        ends.clear()
        for layer in model.decoder.layers:
            layer.cross_attention.register_forward_hook(
                lambda module, inputs, output: ends.append((inputs[0], output[0]))
            )
        src, tgt, other = torch.randint(1, 1000, (3, 8, 16))
        with torch.no_grad():
            model(src, tgt)
            model(src, other)
        ratios[encoder_layers] = sum((y.norm() / x.norm()).item() for x, y in ends) / len(ends)
    assert 0.8 < ratios[12] < 1.25
    assert 0.4 < ratios[1] < 0.8
    for (x, y), (other_x, other_y) in zip(ends[:12], ends[12:], strict=True):
        change = (x - other_x).norm() / x.norm()
        assert (y - other_y).norm() < 0.1 * change * y.norm()


# Warm-up


@claim("initialization#warm-up")
def test_deep_post_norm_needs_warm_up_at_a_high_rate_and_shallow_or_pre_norm_does_not(printed):
    shown = printed("examples", "warm_up")
    *right, guess = [int(value.rstrip("%")) for value in shown.values()]
    assert guess == 10
    assert right[0] < 2 * guess
    assert right[1:] == [100, 100, 100]


@claim("initialization#warm-up")
def test_a_deep_post_norm_stack_is_more_sensitive_to_weight_noise(printed):
    shown = {k: float(v.rstrip("%")) for k, v in printed("examples", "amplification").items()}
    post, pre = (
        [shown[f"{kind}, depth {depth}, the output moves by"] for depth in (1, 4, 16)]
        for kind in ("post-norm", "pre-norm")
    )
    assert post[0] == pre[0]
    assert post[1] > pre[1]
    assert post[2] > 1.5 * pre[2]
