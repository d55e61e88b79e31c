"""The claims of the page on encoder and decoder layers in practice."""

import math
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from evidence.comparisons import (
    compare_decoder_layers,
    compare_encoder_layers,
    compare_stacks,
)
from helpers import DTYPES, few, normal, numbers
from marks import claim
from transformer import (
    Decoder,
    Encoder,
    EncoderLayer,
    FeedForward,
    TransformerConfig,
    initialize,
)

CHAPTER = "layers-in-practice"

sizes = {
    "batch": st.integers(1, 3),
    "length": st.integers(1, 6),
    "memory_length": st.integers(1, 6),
    "nhead": st.integers(1, 3),
    "norm_first": st.booleans(),
    "dtype": st.sampled_from(DTYPES),
    "seed": st.integers(0, 1000),
}


def configuration(nhead: int = 4, norm_first: bool = False, **changes) -> TransformerConfig:
    small = {"d_model": 8 * nhead, "num_encoder_layers": 2, "num_decoder_layers": 2}
    small |= {"dim_feedforward": 16, "dropout": 0.0}
    return TransformerConfig(9, 12, nhead=nhead, norm_first=norm_first, **(small | changes))


@claim("layers-in-practice#torch-nn", kind="measurement")
def test_layers_of_nn_transformer_encoder_start_with_equal_weights():
    layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 3).layers
    for other in layers[1:]:
        for name, parameter in layers[0].named_parameters():
            assert torch.equal(parameter, other.get_parameter(name))
    first, second = nn.Transformer(8, 2, 2, 2, 16).encoder.layers
    assert not torch.equal(first.linear1.weight, second.linear1.weight)  # initialized again


@claim("layers-in-practice#last-norm")
def test_in_a_pre_norm_stack_vectors_grow_from_layer_to_layer_until_the_last_norm(printed):
    shown = printed("examples", "last_norm")
    assert shown["post-norm, after each layer"] == str([1.0] * 6)
    grown = [float(size) for size in re.findall(r"[\d.]+", shown["pre-norm, after each layer"])]
    assert grown == sorted(grown)
    assert grown[-1] > 1.4
    assert shown["pre-norm, out of the encoder"] == shown["post-norm, out of the encoder"] == "1.0"
    for name in ("pre-norm", "post-norm"):
        assert shown[f"{name}, one more LayerNorm changes nothing"] == "True"


@claim("layers-in-practice#torch-nn")
@few
@given(**{k: v for k, v in sizes.items() if k != "memory_length"})
def test_encoder_layer_equals_nn_transformer_encoder_layer(
    batch, length, nhead, norm_first, dtype, seed
):
    torch.manual_seed(seed)
    compare_encoder_layers(configuration(nhead, norm_first), dtype, batch, length)


@claim("layers-in-practice#torch-nn")
@few
@given(**sizes)
def test_decoder_layer_equals_nn_transformer_decoder_layer(
    batch, length, memory_length, nhead, norm_first, dtype, seed
):
    torch.manual_seed(seed)
    config = configuration(nhead, norm_first)
    compare_decoder_layers(config, dtype, batch, length, memory_length)


@claim("layers-in-practice#torch-nn")
@few
@given(**sizes)
def test_both_stacks_equal_those_of_torch_with_the_norm_given_on_the_page(
    batch, length, memory_length, nhead, norm_first, dtype, seed
):
    torch.manual_seed(seed)
    config = configuration(nhead, norm_first)
    for stack in (Encoder, Decoder):
        compare_stacks(stack, config, dtype, batch, length, memory_length)


@claim("layers-in-practice#torch-nn", kind="measurement")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("changes", "with_mask", "zeros"),
    [
        ({}, False, True),
        ({"activation": "gelu"}, False, True),
        ({"activation": nn.functional.silu}, False, False),
        ({"bias": False}, False, False),
        ({"norm_first": True}, False, False),
        ({"nhead": 1}, False, False),
        ({}, True, False),
    ],
)
def test_the_fast_path_needs_relu_or_gelu_biases_even_heads_and_no_other_mask(
    changes, with_mask, zeros
):
    sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "batch_first": True}
    layer = nn.TransformerEncoderLayer(**(sizes | changes))
    encoder = nn.TransformerEncoder(layer, 2).eval()
    padded = torch.tensor([[False] * 5, [False, False, True, True, True]])
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1) if with_mask else None
    with torch.no_grad():
        y = encoder(torch.randn(2, 5, 16), mask=causal, src_key_padding_mask=padded)
    assert (not y[padded].any().item()) == zeros


@claim("layers-in-practice#memorized")
def test_translating_runs_the_encoder_once_and_the_decoder_once_per_token(printed):
    shown = printed("examples", "translating")
    assert shown["runs of the encoder"] == "1"
    assert shown["runs of the decoder"] == str(len("我们为什么工作？") + 1)


@claim("layers-in-practice#too-good")
def test_without_the_mask_the_loss_decreases_and_the_last_position_still_guesses(printed):
    shown = printed("examples", "too_good")
    assert shown["a blind guess"] == f"{math.log(8):.1f}" == shown["with the mask, loss"]
    assert shown["without it, loss"] == shown["a blind guess at one position in seven"]
    by_position = [float(loss) for loss in shown["without it, by position"].split()]
    assert max(by_position[:-1]) < 0.1
    assert by_position[-1] >= math.log(8) - 0.1


# Without residual connections


@claim("layers-in-practice#network-gradients")
def test_the_residual_connection_replaces_vanishing_with_mild_growth_as_computed(printed):
    shown = printed("examples", "gradient_road")
    for name in "f(x)", "x + f(x)":
        measured = float(shown[f"{name}, a sublayer multiplies the gradient by"])
        assert abs(measured - float(shown[f"{name}, expected"])) < 0.03
    assert float(shown["f(x), what 24 of them leave of 1"]) < 1e-5
    assert 10 < float(shown["x + f(x), what 24 of them leave of 1"]) < 100


@claim("layers-in-practice#network-gradients")
def test_a_fresh_network_multiplies_the_mean_square_by_0_32(dtype):
    network = FeedForward(256, 1024, 0.0).to(dtype).apply(initialize)
    y = network(torch.randn(2000, 256, dtype=dtype))
    assert abs(y.square().mean().item() - 0.32) < 0.03


@claim("layers-in-practice#network-gradients")
def test_the_residual_sums_grow_forward_as_the_gradient_grows_backward():
    x = torch.randn(2000, 128)
    start = x.norm()
    with torch.no_grad():
        for _ in range(24):
            x = x + FeedForward(128, 512, 0.0).apply(initialize)(x)
    assert 15 < x.norm() / start < 60


@claim("layers-in-practice#alike")
def test_tokens_become_alike_in_six_layers_without_residuals_and_more_slowly_with_them(printed):
    shown = printed("examples", "alike")
    plain, post, pre = (
        numbers(shown[f"{name}, difference"])
        for name in ("f(x)", "x + f(x), post-norm", "x + f(x), pre-norm")
    )
    assert 0.01 < plain[1] < 0.2 and plain[2] < 0.005
    assert max(plain[3:]) < 1e-6
    for slow in post, pre:
        assert slow == sorted(slow, reverse=True)
        assert all(x < y for x, y in zip(plain, slow, strict=True))
    assert 0.01 < post[4] < 0.1 and post[5] < 0.001
    assert pre[5] > 0.3
    assert numbers(shown["f(x), cosine"])[1] < 0.99
    assert numbers(shown["x + f(x), post-norm, cosine"])[4] > 0.99


@pytest.mark.slow
@claim("layers-in-practice#take-away", kind="measurement")
def test_without_residual_connections_few_layers_learn_to_copy_and_six_do_not(printed):
    shown = printed("examples", "take_away")
    after = {
        steps: {
            label.removesuffix(f", correct after {steps} steps"): int(value.rstrip("%"))
            for label, value in shown.items()
            if label.endswith(f" {steps} steps")
        }
        for steps in (80, 300)
    }
    assert after[80]["with both"] == after[80]["without the one around the network"] == 100
    one_answer = numbers(shown["the best answer for all positions"])[0]
    assert shown["without both, sentences with one answer for all positions"] == "100%"
    assert shown["with both, sentences with one answer for all positions"] == "0%"
    for name in "without both", "without the one around attention":
        assert after[80][name] <= after[300][name] <= one_answer
    assert after[80]["three layers without both"] < after[80]["two layers without both"]
    assert after[300]["three layers without both"] > 80
    assert after[300]["two layers without both"] == 100


class NoSum(EncoderLayer):
    """A post-norm layer without residual connections."""

    def forward(self, x, mask=None):
        x = self.norm1(self.attend(x, mask))
        return self.norm2(self.feed_forward(x))


@claim("layers-in-practice#take-away", kind="measurement")
@pytest.mark.parametrize("seed", range(3))
def test_only_without_residuals_the_upper_queries_and_keys_get_almost_no_gradient(seed):
    networks = {}
    for kind in EncoderLayer, NoSum:
        settings = configuration(d_model=32, num_encoder_layers=6, dim_feedforward=128)
        encoder = Encoder(settings)
        torch.manual_seed(seed)
        encoder.layers = nn.ModuleList(kind(settings) for _ in encoder.layers)
        model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10)).apply(initialize)
        ids = torch.randint(10, (16, 6))
        nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        lowest, *_, highest = (layer.self_attention for layer in encoder.layers)
        for name in "query.weight", "key.weight":
            ratio = highest.get_parameter(name).grad.norm() / lowest.get_parameter(name).grad.norm()
            assert ratio < 1e-4 if kind is NoSum else ratio > 1e-2
        second = [layer.feed_forward.linear2.weight.grad.norm() for layer in encoder.layers]
        networks[kind] = torch.stack(second)
    ratios = networks[NoSum] / networks[EncoderLayer]
    assert ratios.min() > 0.1 and ratios.max() < 10  # of the same order of magnitude


@claim("layers-in-practice#in-place")
def test_an_in_place_sum_can_change_the_callers_tensor_and_break_the_backward_pass(printed):
    shown = printed("examples", "in_place")
    assert numbers(shown["the caller's x, after y += x"]) == [2, 2, 2]
    assert numbers(shown["the caller's x, after y = y + x"]) == [1, 1, 1]
    assert "inplace" in shown["backward"]
    x = torch.ones(3)
    for module in nn.Identity(), nn.Dropout(0.0), nn.Dropout(0.1).eval():
        assert module(x) is x
    assert nn.Dropout(0.1)(x) is not x


# Without LayerNorm


@claim("layers-in-practice#no-norm")
def test_without_the_norm_vectors_grow_and_the_first_loss_is_far_above_uniform_guessing(printed):
    shown = {label: float(value) for label, value in printed("examples", "without_norm").items()}
    assert shown["EncoderLayer, length of a token"] == round(math.sqrt(32), 1)
    assert shown["NoNorm, length of a token"] > 10 * math.sqrt(32)
    assert shown["NoNorm, first loss"] > 4 * math.log(10)
    assert shown["EncoderLayer, first loss"] < 1.5 * math.log(10)


@claim("layers-in-practice#stream")
def test_post_norm_tokens_have_the_length_root_d_and_pre_norm_tokens_grow(printed):
    shown = printed("examples", "stream")
    for layer in 1, 6, 12:
        assert shown[f"post-norm, layer {layer}, length"] == f"{math.sqrt(128):.1f}"
    lengths = [float(shown[f"pre-norm, layer {layer}, length"]) for layer in (1, 6, 12)]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 30
    x = normal(50, 128)
    shorter = x - nn.functional.layer_norm(x, (128,)) / 2
    assert (shorter.norm(dim=-1) < x.norm(dim=-1)).all()
    assert shown["pre-norm, at the end"] == f"{math.sqrt(128):.1f}"
    post, pre = (
        [float(shown[f"{kind}, layer {layer}, change"]) for layer in (1, 6, 12)]
        for kind in ("post-norm", "pre-norm")
    )
    assert pre == sorted(pre, reverse=True)
    assert post == sorted(post)


@claim("layers-in-practice#what-is-left")
def test_in_post_norm_a_hundredth_of_the_input_is_left_after_twelve_layers(printed):
    shown = {k: float(v) for k, v in printed("examples", "what_is_left").items()}
    assert 0.005 < shown["x counts, after layer 12"] < 0.02
    assert sorted(shown.values(), reverse=True) == list(shown.values())
