"""The claims of the page on modern decoders: ours are equal to those of transformers."""

import json
import math

import pytest
import torch
from torch import nn

from bookbuild.reference.claim_results import code_key
from helpers import SNIPPETS, close, normal
from marks import claim, mutation
from pretrained import (
    FILES,
    compare_bert,
    compare_decoders,
    compare_deepseek_experts,
    compare_gpt2,
    compare_latent_attention,
    compare_losses,
    random_ids,
)
from variants.decoder_2026 import Cache, Decoder2026, DecoderConfig
from variants.deepseek_experts import DeepSeekExperts
from variants.experts import MixtureOfExperts, load_balancing_loss
from variants.latent_attention import LatentAttention
from variants.online_softmax import attention_by_blocks
from variants.rope_scaling import rope_frequencies

CHAPTER = "modern-decoders"
BOUND = 1e-5  # of the largest number
SIZES = {
    "vocab_size": 40,
    "d_model": 32,
    "nhead": 4,
    "num_kv_heads": 2,
    "head_dim": 12,
    "num_layers": 3,
    "dim_feedforward": 24,
}
seeds = pytest.mark.parametrize("seed", range(3))


def make_decoder(**options) -> Decoder2026:
    torch.manual_seed(0)
    return Decoder2026(DecoderConfig(**SIZES | options)).double().eval()


# Equal to the models of transformers


@claim("modern-decoders#equal")
@mutation(
    "variants/decoder_2026.py",
    "q = rotate_halves(q, angle, self.size)",
    "q = rotate_halves(q, -angle, self.size)",
    fault="the queries of the decoder of 2026 are rotated backwards",
)
@mutation(
    "variants/decoder_2026.py",
    "k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)",
    "k, v = torch.cat([k, old_k], dim=2), torch.cat([v, old_v], dim=2)",
    fault="the cache of the decoder of 2026 puts new keys before old ones",
)
@mutation(
    "variants/decoder_2026.py",
    "cache.length = end",
    "cache.length += 1",
    fault="the cache of the decoder of 2026 counts calls, not tokens",
)
@seeds
def test_our_decoder_computes_the_logits_of_llama(seed):
    for difference in compare_decoders("Llama", seed).values():
        assert difference < BOUND


@claim("modern-decoders#qk-norm")
@mutation(
    "variants/decoder_2026.py",
    "q = self.query_norm(self.split(self.query(x)))",
    "q = self.split(self.query(x))",
    fault="the queries are not normalized",
)
@mutation(
    "variants/decoder_2026.py",
    "k = self.key_norm(self.split(self.key(x)))",
    "k = self.split(self.key_norm.weight.repeat(2) * self.key(x))",
    fault="the keys are multiplied by the weight of their norm, but not normalized",
)
@seeds
def test_with_normalized_queries_and_keys_it_computes_the_logits_of_qwen3(seed):
    for difference in compare_decoders("Qwen3", seed).values():
        assert difference < BOUND


@claim("modern-decoders#gemma")
@mutation(
    "variants/decoder_2026.py",
    "1 + self.weight",
    "self.weight",
    fault="the norms of Gemma multiply by weight, not by 1 + weight",
)
@mutation(
    "variants/decoder_2026.py",
    "x = x + self.after_attention(y)",
    "x = x + y",
    fault="the norm after attention is omitted",
)
@mutation(
    "variants/decoder_2026.py",
    "distance < self.window",
    "distance <= self.window",
    fault="the sliding window is one token too wide",
)
@mutation(
    "variants/decoder_2026.py",
    "config.local_base if is_local else config.base",
    "config.base",
    fault="sliding layers use the base of the global layers",
)
@mutation(
    "variants/decoder_2026.py",
    "(number + 1) % config.global_every",
    "number % config.global_every",
    fault="the first layer is global",
)
@mutation(
    "variants/decoder_2026.py",
    "math.sqrt(d) if config.scale_embedding else 1.0",
    "1.0",
    fault="the embeddings of Gemma are not multiplied by the root of the width",
)
@mutation(
    "variants/decoder_2026.py",
    "(config.score_dim or head_dim)",
    "head_dim",
    fault="the scores of Gemma are divided by the root of the head size",
)
@mutation(
    "variants/experts.py",
    '"gelu": gelu_tanh',
    '"gelu": F.gelu',
    fault="the gate of Gemma uses the exact GELU",
)
@seeds
def test_with_its_norms_and_windows_it_computes_the_logits_of_gemma_3(seed):
    for difference in compare_decoders("Gemma 3", seed).values():
        assert difference < BOUND


@claim("modern-decoders#experts")
@mutation(
    "variants/experts.py",
    "weights = weights / weights.sum(dim=-1, keepdim=True)",
    "weights = weights * 1.0",
    fault="the weights of the chosen experts don't sum to 1",
)
@mutation(
    "variants/experts.py",
    "share * expert(tokens[row])",
    "expert(tokens[row])",
    fault="the outputs of the experts are not weighted",
)
@mutation(
    "variants/hugging_face.py",
    "gate, up = matrix.chunk(2)",
    "up, gate = matrix.chunk(2)",
    fault="the two halves of gate_up_proj are swapped",
)
@seeds
def test_with_experts_it_computes_the_logits_of_qwen3_moe(seed):
    for difference in compare_decoders("Qwen3-MoE", seed).values():
        assert difference < BOUND


@claim("modern-decoders#experts")
@mutation(
    "variants/experts.py",
    "return probs.size(1) * ",
    "return top_k * ",
    fault="the load-balancing loss is not multiplied by the number of experts",
)
@mutation(
    "variants/experts.py",
    "chosen.mean(dim=0) * probs.mean(dim=0)",
    "probs.mean(dim=0) * probs.mean(dim=0)",
    fault="the load-balancing loss ignores which experts are chosen",
)
@seeds
def test_the_load_balancing_loss_equals_that_of_transformers(seed):
    assert compare_losses(seed)["load-balancing loss"] < BOUND


@claim("modern-decoders#deepseek-experts")
@mutation(
    "variants/deepseek_experts.py",
    "weights = scores.gather(1, chosen)",
    "weights = (scores + self.bias).gather(1, chosen)",
    fault="the bias of DeepSeek's router changes the weights of the experts",
)
@mutation(
    "variants/deepseek_experts.py",
    "(scores + self.bias).unflatten",
    "scores.unflatten",
    fault="the bias of DeepSeek's router is not used",
)
@mutation(
    "variants/deepseek_experts.py",
    "biased.topk(2).values.sum(dim=-1)",
    "biased.sum(dim=-1)",
    fault="the groups are chosen by the sum of all their experts",
)
@mutation(
    "variants/deepseek_experts.py",
    "biased.masked_fill(closed.unsqueeze(2), -torch.inf)",
    "biased",
    fault="experts are chosen in all groups",
)
@mutation(
    "variants/deepseek_experts.py",
    "self.router_logits.sigmoid()",
    "self.router_logits.softmax(dim=-1)",
    fault="DeepSeek's router has a softmax",
)
@mutation(
    "variants/deepseek_experts.py",
    "return self.scale * weights, chosen",
    "return weights, chosen",
    fault="the sum of the chosen experts is not scaled",
)
@mutation(
    "variants/deepseek_experts.py",
    "return self.shared(x) + super().forward(x)",
    "return super().forward(x)",
    fault="the shared expert is omitted",
)
@seeds
def test_our_experts_compute_the_outputs_of_those_of_deepseek_v3(seed):
    for difference in compare_deepseek_experts(seed).values():
        assert difference < BOUND


@claim("modern-decoders#deepseek-experts")
@mutation(
    "variants/deepseek_experts.py",
    "torch.sign(load.mean() - load)",
    "torch.sign(load - load.mean())",
    fault="the bias of experts with too many tokens goes up",
)
@mutation(
    "variants/deepseek_experts.py",
    "speed: float = 0.001",
    "speed: float = 0.0001",
    fault="the bias changes ten times more slowly",
)
@mutation(
    "examples/modern-decoders/bias.py",
    "mixture.update_bias(chosen)",
    "pass",
    fault="the example never updates the bias",
)
def test_the_bias_balances_the_load_of_the_experts(printed):
    shown = printed("examples", "bias")
    assert float(shown["largest load after 0 steps"]) > 3
    assert float(shown["largest load after 300 steps"]) < 1.05
    assert float(shown["smallest load after 300 steps"]) > 0.95
    for seed in range(5):
        torch.manual_seed(seed)
        mixture = DeepSeekExperts(16, 8, 16, 2, 4, 2)
        tokens = torch.randn(1000, 16) + 1
        for _ in range(500):
            mixture.update_bias(mixture.choose(tokens)[1])
        load = mixture.choose(tokens)[1].flatten().bincount(minlength=16) / (1000 * 2 / 16)
        assert 0.9 < load.min() <= load.max() < 1.1


@claim("modern-decoders#deepseek-experts")
@mutation(
    "variants/deepseek_experts.py",
    "self.scale * weights, chosen",
    "self.scale * weights, chosen % 6",
    fault="experts of the second half are never chosen",
)
def test_each_token_chooses_top_k_different_experts_in_top_groups_groups():
    torch.manual_seed(0)
    mixture = DeepSeekExperts(32, 8, 12, 3, 4, 2)
    _, chosen = mixture.choose(torch.randn(500, 32))
    assert all(row.unique().numel() == 3 for row in chosen)
    assert all((row // 3).unique().numel() <= 2 for row in chosen)
    assert chosen.unique().numel() == 12


@claim("modern-decoders#rope-scaling")
@mutation(
    "variants/rope_scaling.py",
    "size = 0.1 * math.log(factor) + 1",
    "size = 1.0",
    fault="YaRN does not scale queries and keys",
)
@mutation(
    "variants/rope_scaling.py",
    "math.floor(pair_with(32))",
    "math.floor(pair_with(8))",
    fault="YaRN leaves pairs with 8 turns or more as they are",
)
@seeds
def test_with_yarn_it_computes_the_logits_of_llama_with_yarn(seed):
    for difference in compare_decoders("Llama with YaRN", seed).values():
        assert difference < BOUND


@claim("modern-decoders#rope-scaling")
@mutation(
    "variants/rope_scaling.py",
    "return frequency / factor, 1.0",
    "return frequency * factor, 1.0",
    fault="linear scaling stretches the angles",
)
@seeds
def test_with_linear_scaling_it_computes_the_logits_of_llama_with_linear_scaling(seed):
    for difference in compare_decoders("Llama with linear scaling", seed).values():
        assert difference < BOUND


@claim("modern-decoders#rope-scaling")
@mutation(
    "variants/rope_scaling.py",
    "head_dim / (head_dim - 2)",
    "(head_dim - 2) / head_dim",
    fault="the exponent of NTK scaling is inverted",
)
@seeds
def test_with_ntk_scaling_it_computes_the_logits_of_llama_with_dynamic_scaling(seed):
    assert compare_decoders("Llama with NTK scaling", seed)["logits"] < BOUND


@claim("modern-decoders#latent")
@mutation(
    "variants/latent_attention.py",
    "k_rope = rotate(k_rope, positions, self.base)",
    "k_rope = k_rope.clone()",
    fault="the shared key of latent attention is not rotated",
)
@mutation(
    "variants/latent_attention.py",
    "torch.cat([self.kv_norm(latent), k_rope], dim=-1)",
    "torch.cat([latent, k_rope], dim=-1)",
    fault="the latent vector is not normalized",
)
@mutation(
    "variants/latent_attention.py",
    "torch.cat([cache, new], dim=1)",
    "torch.cat([new, cache], dim=1)",
    fault="the cache of latent attention puts new tokens first",
)
@seeds
def test_our_latent_attention_computes_the_outputs_of_that_of_deepseek_v3(seed):
    for difference in compare_latent_attention(seed).values():
        assert difference < BOUND


@claim("modern-decoders#equal")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return x + self.norm(self.dropout(sublayer(x)))",
    fault="the post-norm residual connection adds after the norm",
)
@mutation(
    "variants/swiglu.py",
    "torch.erf(x / math.sqrt(2))",
    "torch.erf(x / 1.5)",
    fault="GELU uses a normal distribution with another variance",
)
@seeds
def test_our_encoder_computes_the_outputs_of_bert(seed):
    assert compare_bert(seed)["encoder outputs"] < BOUND


@claim("modern-decoders#equal")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return x + self.dropout(self.norm(sublayer(x)))",
    fault="the pre-norm residual connection normalizes the output",
)
@mutation(
    "variants/swiglu.py",
    "0.044715 * x**3",
    "0.045 * x**3",
    fault="the approximation of GELU has a rounded constant",
)
@seeds
def test_our_decoder_only_model_computes_the_logits_of_gpt2(seed):
    assert compare_gpt2(seed)["logits"] < BOUND


@claim("modern-decoders#equal")
@mutation(
    "examples/modern-decoders/equal.py",
    "max(found.values())",
    "min(found.values())",
    fault="the table of models shows the smallest differences",
)
def test_the_differences_in_the_table_belong_to_this_code(printed):
    """The measurement also has more seeds than the tests."""
    recorded = json.loads((SNIPPETS / "results" / "modern.json").read_text("utf-8"))
    hint = "results/modern.json is stale; run scripts/experiment modern"
    assert recorded["key"] == code_key(FILES), hint
    shown = printed("examples", "equal")
    for name, differences in recorded["differences"].items():
        assert float(shown[name]) == pytest.approx(max(differences.values()), rel=0.05)
        assert max(differences.values()) < BOUND


# The blocks


@claim("modern-decoders#model")
@mutation(
    "variants/decoder_2026.py",
    "mask = distance >= 0\n",
    "mask = distance >= -1\n",
    fault="each token of the decoder of 2026 sees the next one",
)
@mutation(
    "examples/modern-decoders/in_one_minute.py",
    "model(ids[:, 8:], cache)",
    "model(ids[:, 8:])",
    fault="the example in one minute uses no cache",
)
def test_with_the_cache_the_logits_are_the_same(printed):
    shown = printed("examples", "in_one_minute")
    assert shown["the same with a cache"] == "True"
    model, ids = make_decoder(window=4, global_every=2), random_ids(0)
    cache, parts = Cache(), ids.split([1, 7, 2, 22], dim=1)
    close(torch.cat([model(part, cache) for part in parts], dim=1), model(ids))


@claim("modern-decoders#windows")
@mutation(
    "variants/decoder_2026.py",
    "kept = k[:, :, -self.window :], v[:, :, -self.window :]",
    "kept = k, v",
    fault="the cache of a sliding layer keeps every token",
)
def test_a_sliding_layer_keeps_only_the_tokens_of_its_window():
    model, cache = make_decoder(window=5, global_every=3), Cache()
    for part in random_ids(0).split(7, dim=1):
        model(part, cache)
    assert [k.size(2) for k, _ in cache.layers.values()] == [5, 5, 32]
    assert all(k.shape == v.shape for k, v in cache.layers.values())


@claim("modern-decoders#gemma")
@mutation(
    "variants/decoder_2026.py",
    "nn.init.zeros_(self.weight)",
    "nn.init.ones_(self.weight)",
    fault="the norms of Gemma start as a multiplication by 2",
)
def test_a_norm_with_an_offset_starts_as_rmsnorm():
    norm = make_decoder(offset_norm=True).norm
    x = normal(2, 5, 32)
    close(norm(x), nn.functional.rms_norm(x, (32,), eps=1e-6))


@claim("modern-decoders#tied")
@mutation(
    "variants/decoder_2026.py",
    "self.output.weight = self.embedding.weight",
    "self.output.weight.data = self.embedding.weight.data.clone()",
    fault="tied embeddings are only a copy",
)
def test_tied_embeddings_are_one_parameter():
    one, two = make_decoder(tie_embeddings=True), make_decoder()
    assert one.output.weight is one.embedding.weight
    counts = [sum(p.numel() for p in model.parameters()) for model in (one, two)]
    assert counts[1] - counts[0] == 40 * 32


@claim("modern-decoders#qk-norm")
@mutation(
    "examples/modern-decoders/largest_score.py",
    "qk_norm=True",
    "qk_norm=False",
    fault="the example of large scores has no norm of queries and keys",
)
def test_with_normalized_queries_and_keys_scores_stay_below_the_root_of_the_head_size(printed):
    shown = printed("examples", "largest_score")
    bound = math.sqrt(64)
    assert float(shown["largest score, with the norms, weights times 10"]) <= bound
    assert float(shown["largest score, without, weights times 10"]) > bound


@claim("modern-decoders#experts")
@mutation(
    "variants/experts.py",
    'F.silu, "gelu"',
    'F.relu, "gelu"',
    fault="the experts have a ReLU gate",
)
@pytest.mark.parametrize("top_k", [1, 2, 4])
def test_a_mixture_is_the_weighted_sum_of_the_chosen_experts(top_k):
    torch.manual_seed(0)
    mixture, x = MixtureOfExperts(16, 24, 4, top_k).double(), normal(2, 5, 16)
    weights = mixture.router(x).softmax(dim=-1)
    lowest = weights.topk(top_k).values[..., -1:]
    weights = weights.masked_fill(weights < lowest, 0)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    outputs = [
        expert.down(nn.functional.silu(expert.gate(x)) * expert.up(x)) for expert in mixture.experts
    ]
    close(mixture(x), (torch.stack(outputs, dim=-1) * weights[..., None, :]).sum(dim=-1))


@claim("modern-decoders#experts")
@mutation(
    "examples/modern-decoders/balance.py",
    "collapsed[:, :2] = 9",
    "collapsed[:, :4] = 9",
    fault="the collapsed router of the example chooses among four experts",
)
def test_the_loss_is_top_k_for_equal_probabilities_and_the_number_of_experts_at_most(printed):
    shown = printed("examples", "balance")
    assert float(shown["equal probabilities"]) == pytest.approx(2)
    assert float(shown["the same two experts for every token"]) > 7.9
    for seed in range(5):
        logits = 3 * normal(100, 8, seed=seed)
        assert load_balancing_loss(logits, 2) <= 8
    assert load_balancing_loss(torch.zeros(10, 8), 2).item() == pytest.approx(2)


@claim("modern-decoders#latent")
@mutation(
    "variants/latent_attention.py",
    "self.kv_down = nn.Linear(d_model, kv_rank + rope_dim, bias=False)",
    "self.kv_down = nn.Linear(d_model, kv_rank + nhead * rope_dim, bias=False)",
    fault="each head of latent attention has a rotated key of its own",
)
def test_latent_attention_keeps_kv_rank_and_rope_dim_numbers_a_token():
    attention = LatentAttention(32, 4, 20, 14, 10, 6)
    _, cache = attention(torch.randn(2, 5, 32))
    assert cache.shape == (2, 5, 14 + 6)


@claim("modern-decoders#cache-size")
@mutation(
    "examples/modern-decoders/kv_cache.py",
    "2 * groups * 128",
    "groups * 128",
    fault="the example of cache sizes counts keys only",
)
def test_the_printed_cache_sizes_are_those_of_our_modules(printed):
    shown = printed("examples", "kv_cache")
    layers = 61

    def size(label: str) -> int:
        return int(shown[f"{label}, bytes a token"].replace(",", ""))

    for label, groups in (("multi-head", 128), ("8 groups", 8), ("multi-query", 1)):
        with torch.device("meta"):
            config = DecoderConfig(nhead=128, num_kv_heads=groups, num_layers=1)
            model, cache = Decoder2026(config), Cache()
            model.layers[0].attention.frequency = torch.empty(64)
            model(torch.zeros(1, 3, dtype=torch.int64), cache)
        numbers = sum(part.numel() for part in cache.layers[0]) // 3
        assert size(label) == layers * numbers * 2
    with torch.device("meta"):
        _, latent = LatentAttention()(torch.empty(1, 3, 7168))
    assert size("latent") == layers * latent.numel() // 3 * 2


@claim("modern-decoders#cost")
@mutation(
    "examples/modern-decoders/parameters.py",
    '"num_kv_heads": 4',
    '"num_kv_heads": 32',
    fault="the example counts the parameters of a mixture without grouped queries",
)
@mutation(
    "variants/decoder_2026.py",
    "num_layers: int = 36",
    "num_layers: int = 32",
    fault="the decoder of 2026 has as many layers as LLaMA 7B",
)
def test_with_the_published_sizes_it_has_the_published_numbers_of_parameters(printed):
    shown = printed("examples", "parameters")
    assert shown["Qwen3 8B, billions"] == "8.19"
    assert shown["Qwen3 8B without embeddings, billions"] == "6.95"
    assert shown["Qwen3 30B-A3B, billions"] == "30.5"
    assert shown["Qwen3 30B-A3B, billions for a token"] == "3.35"  # published as 3.3


@claim("modern-decoders#rope-scaling")
@mutation(
    "variants/rope_scaling.py",
    'if scaling == "linear":',
    'if scaling in ("linear", "yarn"):',
    fault="YaRN divides all frequencies by the factor",
)
def test_each_scaling_divides_the_slowest_frequency_and_only_linear_the_fastest(printed):
    shown = printed("examples", "frequencies")
    plain, _ = rope_frequencies(128)
    for scaling, fastest in (("linear", 4), ("ntk", 1), ("yarn", 1)):
        scaled, _ = rope_frequencies(128, scaling=scaling, factor=4)
        assert (plain[0] / scaled[0]).item() == pytest.approx(fastest)
        assert (plain[-1] / scaled[-1]).item() == pytest.approx(4)
        assert float(shown[f"{scaling}, fastest pair divided by"]) == fastest
        assert float(shown[f"{scaling}, slowest pair divided by"]) == 4


@claim("modern-decoders#rope-scaling")
@mutation(
    "variants/rope_scaling.py",
    'if head_dim % 2 or scaling not in ("", "linear", "ntk", "yarn"):',
    "if head_dim % 2:",
    fault="an unknown scaling is ignored",
)
@pytest.mark.parametrize(("head_dim", "scaling"), [(7, ""), (8, "llama3")])
def test_an_unknown_scaling_or_an_odd_head_size_is_an_error(head_dim, scaling):
    with pytest.raises(ValueError, match=f"{scaling!r}, {head_dim}"):
        rope_frequencies(head_dim, scaling=scaling)


@claim("modern-decoders#flash")
@mutation(
    "variants/online_softmax.py",
    "average = average * shrink + weights @ v",
    "average = average + weights @ v",
    fault="the online softmax does not scale down the average so far",
)
@mutation(
    "variants/online_softmax.py",
    "total = total * shrink + weights.sum(dim=-1, keepdim=True)",
    "total = total + weights.sum(dim=-1, keepdim=True)",
    fault="the online softmax does not scale down the sum so far",
)
@pytest.mark.parametrize("block", [1, 3, 8, 32, 100])
def test_attention_by_blocks_equals_softmax_over_all_keys(block):
    q, k, v = 5 * normal(2, 4, 32, 8), normal(2, 4, 32, 8, seed=1), normal(2, 4, 32, 6, seed=2)
    expected = (q @ k.mT / math.sqrt(8)).softmax(dim=-1) @ v
    close(attention_by_blocks(q, k, v, block), expected, 1e-12)


@claim("modern-decoders#flash")
@mutation(
    "examples/modern-decoders/by_blocks.py",
    "attention_by_blocks(q, k, v, 64)",
    "attention_by_blocks(q, k[:, :64], v[:, :64], 64)",
    fault="the example of attention by blocks has a single block",
)
def test_attention_by_blocks_needs_no_table_of_all_scores(printed):
    shown = printed("examples", "by_blocks")
    assert float(shown["largest difference"]) < 1e-5
    assert shown["scores at a time"] == "65,536 of 1,048,576"
