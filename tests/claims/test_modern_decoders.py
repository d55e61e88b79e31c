"""The claims of the page on modern decoders: ours are equal to those of transformers."""

import math
import runpy

import pytest
import torch
from torch import nn

from evidence.hugging_face_models import (
    compare_decoders,
    compare_deepseek_experts,
    compare_latent_attention,
    compare_losses,
    random_ids,
)
from evidence.newer_models import model_source, newer_models
from helpers import SNIPPETS, close, normal, run_snippet
from marks import claim, mutation
from small_decoders import BOUND, make_decoder, seeds
from variants.decoder_2025 import Cache, Decoder2025, DecoderConfig, Layer
from variants.deepseek_experts import DeepSeekExperts
from variants.experts import MixtureOfExperts, load_balancing_loss
from variants.latent_attention import LatentAttention

CHAPTER = "modern-decoders"


# Equal to the models of transformers


@claim("modern-decoders#qk-norm")
@seeds
def test_with_normalized_queries_and_keys_it_computes_the_logits_of_qwen3(seed):
    assert max(compare_decoders("Qwen3", seed).values()) < BOUND


@claim("modern-decoders#model")
@seeds
@pytest.mark.parametrize("name", ["Gemma 3", "Gemma 3 with linear scaling"])
def test_with_its_norms_and_windows_it_computes_the_logits_of_gemma_3(name, seed):
    assert max(compare_decoders(name, seed).values()) < BOUND


@claim("modern-decoders#experts")
@seeds
def test_with_experts_it_computes_the_logits_of_qwen3_moe(seed):
    assert max(compare_decoders("Qwen3-MoE", seed).values()) < BOUND


@claim("modern-decoders#experts")
@seeds
def test_the_load_balancing_loss_equals_that_of_transformers(seed):
    assert compare_losses(seed)["load-balancing loss"] < BOUND


@claim("decoders-in-practice#deepseek-experts")
@seeds
def test_our_experts_compute_the_outputs_of_those_of_deepseek_v3(seed):
    assert max(compare_deepseek_experts(seed).values()) < BOUND


@claim("decoders-in-practice#deepseek-experts")
def test_the_bias_balances_the_load_of_the_experts(printed):
    shown = printed("examples", "bias")
    assert float(shown["largest load after 0 steps"]) > 3
    assert float(shown["largest load after 300 steps"]) < 1.05
    assert float(shown["smallest load after 300 steps"]) > 0.95


@claim("modern-decoders#latent")
@seeds
def test_our_latent_attention_computes_the_outputs_of_that_of_deepseek_v3(seed):
    assert max(compare_latent_attention(seed).values()) < BOUND


# The blocks


@claim("modern-decoders#model")
@mutation(
    "examples/modern-decoders/layer.py",
    "q, k = rotate(self.query_norm(q)), ",
    "q, k = rotate(q), ",
    fault="the layer that is written out has no norm of the queries",
)
def test_the_layer_that_is_written_out_computes_the_output_of_the_class():
    names = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "layer.py"))
    written_out = names["Qwen3Layer"](d=64, heads=4, kv_heads=2, width=32, hidden=48)
    sizes = {"d_model": 64, "nhead": 4, "num_kv_heads": 2, "head_dim": 32, "dim_feedforward": 48}
    layer = Layer(DecoderConfig(**sizes), number=0)
    with torch.no_grad():
        for i, weight in enumerate(layer.parameters()):
            weight.copy_(0.3 * normal(*weight.shape, seed=i))
    weights = {
        ".".join(name.split(".")[-2:]): weight for name, weight in layer.state_dict().items()
    }
    written_out.load_state_dict(weights)
    x = normal(2, 6, 64).float()
    close(written_out(x), layer(x, torch.arange(6), Cache()), 1e-5)


@claim("modern-decoders#model")
def test_with_the_cache_the_logits_are_the_same():
    model, ids = make_decoder(window=4, global_every=2), random_ids(0)
    cache, parts = Cache(), ids.split([1, 7, 2, 22], dim=1)
    close(torch.cat([model(part, cache) for part in parts], dim=1), model(ids))


def stored_tokens(part: torch.Tensor) -> float:
    """By the memory that the tensor keeps alive, not by its shape."""
    return part.untyped_storage().nbytes() / part[:, :, 0].nbytes


@claim("modern-decoders#cache")
@torch.no_grad()
@pytest.mark.parametrize(("batch", "num_kv_heads"), [(1, 1), (2, 4)])
def test_after_a_prompt_a_sliding_layer_holds_memory_for_its_window_only(batch, num_kv_heads):
    model = make_decoder(window=16, global_every=3, num_kv_heads=num_kv_heads)
    cache, prompt = Cache(), torch.randint(40, (batch, 2000))
    for count, part in (2000, prompt), (2001, prompt[:, :1]):
        model(part, cache)
        for kept in zip(*cache.layers.values(), strict=True):
            assert [stored_tokens(each) for each in kept] == [16, 16, count]


@claim("modern-decoders#cache")
def test_the_cache_of_gemma_3_has_the_printed_part_of_its_size_without_windows(printed):
    from transformers import Gemma3TextConfig

    layers = 34  # of Gemma 3 4B
    kinds = Gemma3TextConfig(num_hidden_layers=layers).layer_types
    sizes = {"full_attention": 131072, "sliding_attention": 1024}
    part = sum(sizes[kind] for kind in kinds) / (layers * 131072)
    shown = printed("examples", "kv_cache")["Gemma 3 4B, part of the cache"]
    assert shown == f"{part:.1%}"


@claim("modern-decoders#model")
def test_a_norm_with_an_offset_starts_as_rmsnorm():
    norm = make_decoder(offset_norm=True).norm
    x = normal(2, 5, 32)
    close(norm(x), nn.functional.rms_norm(x, (32,), eps=1e-6))


@claim("newer-attention#since", kind="measurement")
def test_the_printed_sizes_of_newer_models_are_those_of_transformers(printed):
    shown = printed("examples", "newer")
    found = newer_models()
    assert shown.keys() == found.keys()
    for name, number in found.items():
        assert shown[name] == (str(number) if name.endswith("year") else f"{number:,}")


@claim("newer-attention#since", kind="measurement")
@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("qwen3_next", "attn_output = attn_output * torch.sigmoid(gate)"),
        ("qwen3_5", "attn_output = attn_output * torch.sigmoid(gate)"),
        ("deepseek_v32", "min(self.index_topk, index_scores.shape[-1])"),
        ("llama4", "self.use_rope = config.no_rope_layers[layer_idx]"),
        ("smollm3", "self.use_rope = config.no_rope_layers[layer_idx]"),
        ("gpt_oss", "self.sinks = nn.Parameter(torch.empty(config.num_attention_heads))"),
    ],
)
def test_the_sources_of_newer_models_have_the_parts_of_the_table(model, line):
    assert line in model_source(model)


@claim("modern-decoders#qk-norm")
def test_with_normalized_queries_and_keys_a_factor_does_not_change_the_weights(printed):
    shown = printed("examples", "qk_norm_by_hand")
    scores = torch.tensor([0.56, 2.0]) / math.sqrt(2)  # (0.2, 1.4) with (1.4, 0.2), with itself
    first, second = scores.softmax(dim=0).tolist()
    for factor in (1, 10):
        label = f"times {factor}, weights with QK-norm"
        assert shown[label] == f"{first:.2f} and {second:.2f}"
    assert shown["times 10, weights"] == "0.00 and 1.00"


@claim("modern-decoders#qk-norm")
@torch.no_grad()
def test_with_the_norms_a_score_is_at_most_the_root_of_the_width():
    attention = make_decoder(qk_norm=True).layers[0].attention
    for factor in (1, 10, 1000):
        x = factor * normal(2, 5, 32)
        q = attention.query_norm(attention.split(attention.query(x)))
        k = attention.key_norm(attention.split(attention.key(x)))
        expected = nn.functional.rms_norm(attention.split(attention.key(x)), (12,), eps=1e-6)
        close(k, expected)
        scores = q @ k.repeat_interleave(2, dim=1).mT / math.sqrt(12)
        assert scores.abs().max() <= math.sqrt(12)


@claim("modern-decoders#qk-norm")
@mutation(
    "variants/rmsnorm.py",
    "(mean_square + self.eps).rsqrt() * self.weight",
    "(mean_square + self.eps) * self.weight",
    fault="RMSNorm multiplies by the mean square",
)
@torch.no_grad()
def test_the_learned_weights_of_the_norms_change_the_bound():
    attention = make_decoder(qk_norm=True).layers[0].attention
    norms = attention.query_norm, attention.key_norm
    for seed, norm in enumerate(norms):
        norm.weight.copy_(1 + normal(12, seed=seed))
    factor = math.prod(norm.weight.abs().max() for norm in norms)
    x = normal(2, 4, 50, 12)
    q, k = (norm(x) for norm in norms)
    assert (q @ k.mT / math.sqrt(12)).abs().max() <= factor * math.sqrt(12)
    for norm in norms:
        norm.weight.fill_(3)
    q, k = (norm(x) for norm in norms)
    largest = (q * k).sum(dim=-1) / math.sqrt(12)  # of equal directions
    close(largest, torch.full_like(largest, 9 * math.sqrt(12)), 1e-4)


@claim("modern-decoders#experts")
def test_the_loss_is_top_k_for_equal_probabilities_and_the_number_of_experts_at_most(printed):
    assert float(printed("examples", "balance")["the same two experts for every token"]) > 7.9
    for seed in range(5):
        logits = 3 * normal(100, 8, seed=seed)
        assert load_balancing_loss(logits, 2) <= 8
    assert load_balancing_loss(torch.zeros(10, 8), 2).item() == pytest.approx(2)


@claim("modern-decoders#latent")
def test_the_printed_cache_sizes_are_those_of_our_modules(printed):
    shown = printed("examples", "kv_cache")
    layers = 61

    def size(label: str) -> int:
        return int(shown[f"{label}, bytes a token"].replace(",", ""))

    for label, groups in (("multi-head", 128), ("8 groups", 8), ("multi-query", 1)):
        with torch.device("meta"):
            config = DecoderConfig(nhead=128, num_kv_heads=groups, num_layers=1)
            model, cache = Decoder2025(config), Cache()
            model.layers[0].attention.frequency = torch.empty(64)
            model(torch.zeros(1, 3, dtype=torch.int64), cache)
        numbers = sum(part.numel() for part in cache.layers[0]) // 3
        assert size(label) == layers * numbers * 2
    with torch.device("meta"):
        _, latent = LatentAttention()(torch.empty(1, 3, 7168))
    assert size("latent") == layers * latent.numel() // 3 * 2


# The examples by hand


@claim("modern-decoders#latent")
def test_the_transpose_moves_the_matrix_from_the_keys_to_the_query(printed):
    shown = printed("examples", "latent_by_hand")
    assert shown["scores without keys"] == shown["scores"] == "[6.0, 4.0]"
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])  # of a row, by 90 degrees
    query = torch.ones(2)
    for expected in ([-1, -1], [-1, -3]):  # at the distances 1 and 2
        query = query @ turn
        assert (query @ torch.tensor([[1.0, 2.0], [0.0, 1.0]])).tolist() == expected


@claim("modern-decoders#latent")
@torch.no_grad()
def test_latent_attention_without_rotation_needs_no_keys():
    """The shortcut of the page, for all heads of our module: at position 0 nothing is rotated."""
    torch.manual_seed(0)
    attention, x = LatentAttention(32, 4, 20, 14, 10, 6).double(), normal(3, 1, 32)
    latent = attention.kv_norm(attention.kv_down(x)[..., :14])  # (batch, 1, 14)
    q = attention.split(attention.query_up(attention.query_norm(attention.query_down(x))))
    q = q[..., :10]  # (batch, nhead, 1, 10)
    up = attention.kv_up.weight.unflatten(0, (4, 20))[:, :10]  # (nhead, 10, 14), of the keys
    keys = attention.split(attention.kv_up(latent))[..., :10]
    close((q @ up) @ latent.unsqueeze(1).mT, q @ keys.mT)


@claim("modern-decoders#experts")
@torch.no_grad()
def test_the_routing_by_hand_is_that_of_the_mixture(printed):
    shown = printed("examples", "experts_by_hand")
    mixture = MixtureOfExperts(4, 8, 4, 2)
    mixture.router = nn.Identity()  # tokens are the logits here
    tokens = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    routes = mixture.choose(torch.tensor([[2.0, 1.0, -1.0, 0.0], [1.0, 2.0, 1.0, 3.0]]))
    for token, x, weights, chosen in zip(("we", "work"), tokens, *routes, strict=True):
        first, second = weights @ torch.stack([2 * x, x**2, -x, x + 1])[chosen]
        assert shown[f"{token}, output"] == f"tensor([{first:.2f}, {second:.2f}])"


@claim("decoders-in-practice#deepseek-experts")
@torch.no_grad()
def test_the_bias_changes_the_choice_and_not_the_scores():
    lines = run_snippet("examples", CHAPTER, "bias_by_hand")[1].splitlines()
    mixture = DeepSeekExperts(4, 8, 4, 2, 1, 1, 1.0)
    mixture.router = nn.Identity()
    for i, bias in enumerate((0.0, 0.15)):
        mixture.bias[2] = bias
        weights, chosen = mixture.choose(torch.tensor([[0.8, 0.7, 0.6, 0.1]]).logit())
        assert lines[3 * i + 1] == f"chosen experts: {chosen[0].tolist()}"
        assert lines[3 * i + 2] == f"weights: {weights[0, 0]:.3f} and {weights[0, 1]:.3f}"


@claim("modern-decoders#model")
@torch.no_grad()
def test_the_second_norm_gives_the_outputs_of_a_sublayer_the_same_size():
    layer = make_decoder(norm_after=True, d_model=32).layers[0]
    y = normal(2, 5, 32)
    close(layer.after_attention(100 * y), layer.after_attention(y), 1e-4)
    added = layer.after_attention(y)
    close(added.square().mean(dim=-1), torch.ones(2, 5).double(), 1e-4)
