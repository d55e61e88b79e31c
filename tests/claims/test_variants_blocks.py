"""The claims of the chapter on variants about norms, networks and shared heads."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from evidence.comparisons import compare_grouped_query, compare_rms_norm
from helpers import close, few, normal, run_snippet, seeds
from marks import claim, mutation
from transformer import (
    FeedForward,
    LayerNorm,
)
from variants.grouped import GroupedQueryAttention
from variants.rmsnorm import RMSNorm
from variants.swiglu import GELUFeedForward, SwiGLU, gelu, gelu_tanh

CHAPTER = "variants"
sizes = st.integers(2, 9)


# RMSNorm


@claim("variants#rmsnorm")
@few
@given(seeds, sizes, st.sampled_from([1e-8, 1e-5, 1e-2]))
def test_rms_norm_and_its_gradients_equal_those_of_pytorch(seed, size, eps):
    torch.manual_seed(seed)
    compare_rms_norm(normal(2, 3, size, seed=seed).requires_grad_(), eps)


@claim("variants#rmsnorm")
@few
@given(seeds, sizes)
def test_on_vectors_with_mean_zero_rms_norm_equals_layer_norm(seed, size):
    x = normal(3, size, seed=seed)
    norm, layer = RMSNorm(size).double(), LayerNorm(size).double()
    close(norm(x - x.mean(dim=-1, keepdim=True)), layer(x))


@claim("variants#rmsnorm")
def test_both_norms_computed_by_hand_match_the_code():
    x = torch.tensor([1.0, 3.0, 3.0, 9.0], dtype=torch.float64)
    norm, layer = RMSNorm(4, eps=0.0).double(), LayerNorm(4, eps=0.0).double()
    close(norm(x), x / 5)
    close(layer(x), (x - 4) / 3)
    close(norm(10 * x), norm(x))
    close(layer(10 * x), layer(x))
    close(layer(x + 10), layer(x))
    assert not norm(x + 10).allclose(norm(x))


# GELU


@claim("layers-in-practice#gelu")
def test_gelu_equals_the_exact_and_tanh_versions_of_pytorch():
    x = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    close(gelu(x), F.gelu(x), 1e-12)
    close(gelu_tanh(x), F.gelu(x, approximate="tanh"), 1e-12)


@claim("variants#swiglu")
def test_gelu_is_x_times_the_fraction_of_a_normal_distribution_below_x():
    x = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    close(gelu(x), x * torch.special.ndtr(x))


@claim("variants#swiglu")
def test_the_gelu_network_is_a_feed_forward_network_except_for_its_activation():
    torch.manual_seed(0)
    ours, plain = GELUFeedForward(6, 11).double().eval(), FeedForward(6, 11).double()
    plain.load_state_dict(ours.state_dict())
    x = normal(2, 3, 6)
    close(ours(x), plain.linear2(F.gelu(plain.linear1(x))))


# SwiGLU


@claim("variants#swiglu")
@few
@given(seeds, sizes, sizes)
def test_swiglu_is_the_formula_of_its_paper(seed, d_model, width):
    torch.manual_seed(seed)
    ours = SwiGLU(d_model, width, dropout=0.0).double()
    x = normal(2, 3, d_model, seed=seed)
    w, v, w2 = (linear.weight.T for linear in (ours.gate, ours.up, ours.down))
    swish = (x @ w) / (1 + (-(x @ w)).exp())  # z * sigmoid(z)
    close(ours(x), (swish * (x @ v)) @ w2)
    assert not [name for name, _ in ours.named_parameters() if "bias" in name]


@claim("variants#swiglu")
def test_two_thirds_of_the_width_gives_as_many_weights():
    for d_model, width in ((64, 255), (96, 384), (512, 2049), (768, 3072)):
        plain = 2 * d_model * width
        gated = sum(p.numel() for p in SwiGLU(d_model, 2 * width // 3).parameters())
        assert gated == plain


@claim("variants#swiglu")
def test_the_gate_scales_the_up_projection_which_sets_the_sign():
    module = SwiGLU(1, 1).double().eval()
    nn.init.ones_(module.down.weight)

    def passes(gate: float, up: float) -> float:
        module.gate.weight.data.fill_(gate)
        module.up.weight.data.fill_(up)
        return module(torch.ones(1, 1, 1, dtype=torch.float64)).item()

    assert math.isclose(passes(2, 3), 5.285, abs_tol=1e-3)
    assert math.isclose(passes(2, -3), -passes(2, 3))
    assert abs(passes(-8, 3)) < 0.01


# Grouped queries


def grouped(nhead=8, kv=2, d=32, seed=0) -> GroupedQueryAttention:
    torch.manual_seed(seed)
    return GroupedQueryAttention(d, nhead, kv).double()


@claim("variants#grouped")
@pytest.mark.parametrize("kv", [1, 2, 8])
@few
@given(seeds)
def test_grouped_query_attention_equals_that_of_sdpa(kv, seed):
    torch.manual_seed(seed)
    compare_grouped_query(normal(2, 5, 32, seed=seed), 8, kv)


@claim("variants#grouped")
@mutation(
    "examples/variants/grouped.py",
    "kv.repeat_interleave(nhead // num_kv_heads, dim=1)",
    "kv.repeat(1, nhead // num_kv_heads, 1, 1)",
    fault="the shared heads are repeated in the order 0, 1, 0, 1",
)
def test_the_written_out_attention_equals_the_class_and_stores_24_numbers_instead_of_48():
    names, text = run_snippet("examples", CHAPTER, "grouped")
    assert "numbers in the cache: 24" in text
    full, ours = GroupedQueryAttention(8, 4, 4), GroupedQueryAttention(8, 4, 2)
    for part in "query", "key", "value", "output":
        getattr(ours, part).load_state_dict(names[part].state_dict())
    x = names["x"]
    close(ours(x, x, x)[0], names["y"], 1e-5)
    for module, stored in (full, 48), (ours, 24):
        assert module.key(x).numel() + module.value(x).numel() == stored
    heads = torch.arange(2)
    assert heads.repeat_interleave(2).tolist() == [0, 0, 1, 1]
    assert heads.repeat(2).tolist() == [0, 1, 0, 1]


@claim("variants#grouped")
def test_queries_of_one_group_can_attend_to_different_tokens():
    _, weights = grouped(kv=1)(*[normal(1, 5, 32)] * 3, need_weights=True)
    assert (weights[0, 0] - weights[0, 1]).abs().max() > 0.01


@claim("variants#grouped")
def test_only_the_key_and_value_layers_take_fewer_multiplications():
    module, x = GroupedQueryAttention(64, 8, 2), torch.randn(1, 20, 64)
    with FlopCounterMode(display=False) as counter:
        module(x, x, x, need_weights=True)
    flops = counter.get_flop_counts()["Global"]
    layer = 2 * 20 * 64 * 64  # a multiplication and an addition each
    assert flops[torch.ops.aten.addmm] == 2 * layer + 2 * layer * 2 // 8
    assert flops[torch.ops.aten.bmm] == 2 * (2 * 20 * 20 * 64)  # all scores, all means
    assert module.key.weight.shape == module.value.weight.shape == (64 * 2 // 8, 64)


@claim("variants#grouped")
def test_the_cache_stores_shared_heads_once(printed):
    shown = printed("examples", "cached_heads")
    full = int(shown["8 heads, numbers held"])
    assert full == 2 * 2 * 4 * (10 + 6) * 64
    assert int(shown["2 shared heads, numbers held"]) == full * 2 // 8
    assert shown["the same logits"] == "True"


@claim("variants#exercises")
def test_merging_identical_heads_loses_nothing_and_merging_different_heads_does(printed):
    shown = printed("exercises", "merged_heads")
    assert shown["8 of 8"] == "off by 0%"
    assert shown["4 of 8"] != "off by 0%"
    assert shown["pairs that were alike already, nothing lost"] == "True"
