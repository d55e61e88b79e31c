"""The claims of the page on modern decoders: ours are equal to those of transformers."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from bookbuild.generated.claim_results import code_key
from evidence.hugging_face_models import (
    FILES,
    NEW_SIZES,
    compare_bert,
    compare_decoders,
    compare_deepseek_experts,
    compare_gpt2,
    compare_latent_attention,
    compare_losses,
    newer_models,
    random_ids,
)
from helpers import SNIPPETS, close, normal
from marks import claim, mutation
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
@seeds
def test_with_its_norms_and_windows_it_computes_the_logits_of_gemma_3(seed):
    for difference in compare_decoders("Gemma 3", seed).values():
        assert difference < BOUND


@claim("modern-decoders#experts")
@seeds
def test_with_experts_it_computes_the_logits_of_qwen3_moe(seed):
    for difference in compare_decoders("Qwen3-MoE", seed).values():
        assert difference < BOUND


@claim("modern-decoders#experts")
@seeds
def test_the_load_balancing_loss_equals_that_of_transformers(seed):
    assert compare_losses(seed)["load-balancing loss"] < BOUND


@claim("modern-decoders#deepseek-experts")
@seeds
def test_our_experts_compute_the_outputs_of_those_of_deepseek_v3(seed):
    for difference in compare_deepseek_experts(seed).values():
        assert difference < BOUND


@claim("modern-decoders#deepseek-experts")
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
def test_each_token_chooses_top_k_different_experts_in_top_groups_groups():
    torch.manual_seed(0)
    mixture = DeepSeekExperts(32, 8, 12, 3, 4, 2)
    _, chosen = mixture.choose(torch.randn(500, 32))
    assert all(row.unique().numel() == 3 for row in chosen)
    assert all((row // 3).unique().numel() <= 2 for row in chosen)
    assert chosen.unique().numel() == 12


@claim("modern-decoders#rope-scaling")
@seeds
def test_with_yarn_it_computes_the_logits_of_llama_with_yarn(seed):
    for difference in compare_decoders("Llama with YaRN", seed).values():
        assert difference < BOUND


@claim("modern-decoders#rope-scaling")
@seeds
def test_with_linear_scaling_it_computes_the_logits_of_llama_with_linear_scaling(seed):
    for difference in compare_decoders("Llama with linear scaling", seed).values():
        assert difference < BOUND


@claim("modern-decoders#rope-scaling")
@seeds
def test_with_ntk_scaling_it_computes_the_logits_of_llama_with_dynamic_scaling(seed):
    assert compare_decoders("Llama with NTK scaling", seed)["logits"] < BOUND


@claim("modern-decoders#latent")
@seeds
def test_our_latent_attention_computes_the_outputs_of_that_of_deepseek_v3(seed):
    for difference in compare_latent_attention(seed).values():
        assert difference < BOUND


@claim("modern-decoders#equal")
@seeds
def test_our_encoder_computes_the_outputs_of_bert(seed):
    assert compare_bert(seed)["encoder outputs"] < BOUND


@claim("modern-decoders#equal")
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
def test_with_the_cache_the_logits_are_the_same(printed):
    shown = printed("examples", "in_one_minute")
    assert shown["the same with a cache"] == "True"
    model, ids = make_decoder(window=4, global_every=2), random_ids(0)
    cache, parts = Cache(), ids.split([1, 7, 2, 22], dim=1)
    close(torch.cat([model(part, cache) for part in parts], dim=1), model(ids))


@claim("modern-decoders#windows")
def test_a_sliding_layer_keeps_only_the_tokens_of_its_window():
    model, cache = make_decoder(window=5, global_every=3), Cache()
    for part in random_ids(0).split(7, dim=1):
        model(part, cache)
    assert [k.size(2) for k, _ in cache.layers.values()] == [5, 5, 32]
    assert all(k.shape == v.shape for k, v in cache.layers.values())


def stored_tokens(part: torch.Tensor) -> float:
    """By the memory that the tensor keeps alive, not by its shape."""
    return part.untyped_storage().nbytes() / part[:, :, 0].nbytes


@claim("modern-decoders#windows")
@mutation(
    "variants/decoder_2026.py",
    "kept = k[:, :, last].clone(), v[:, :, last].clone()",
    "kept = k[:, :, last].contiguous(), v[:, :, last].contiguous()",
    fault="the cache of a sliding layer with one head holds a view of all tokens",
)
@mutation(
    "variants/decoder_2026.py",
    "v[:, :, last].clone()",
    "v[:, :, last]",
    fault="the values of a sliding layer are a view of those of all tokens",
)
@mutation(
    "examples/modern-decoders/window_memory.py",
    "megabytes(16)",
    "megabytes(200)",
    fault="the example of the memory of windows has a longer window",
)
@torch.no_grad()
@pytest.mark.parametrize(("batch", "num_kv_heads"), [(1, 1), (1, 2), (2, 1), (2, 4)])
def test_after_a_prompt_a_sliding_layer_holds_memory_for_its_window_only(
    batch, num_kv_heads, printed
):
    model = make_decoder(window=16, global_every=3, num_kv_heads=num_kv_heads)
    cache, prompt = Cache(), torch.randint(40, (batch, 2000))
    for count, part in (2000, prompt), (2001, prompt[:, :1]):
        model(part, cache)
        for kept in zip(*cache.layers.values(), strict=True):
            assert [stored_tokens(each) for each in kept] == [16, 16, count]
    shown = printed("examples", "window_memory")
    number = 2 * 2 * 32 * 4 / 1e6  # keys and values, heads, head_dim, bytes
    assert float(shown["without windows, megabytes"]) == round(6 * 2000 * number, 2)
    label = "a window of 16 in five of six layers, megabytes"
    assert float(shown[label]) == round((5 * 16 + 2000) * number, 2)
    shown = printed("examples", "in_one_minute")
    assert shown["tokens whose keys are stored"] == "[4, 4, 12]"
    assert shown["tokens whose values are stored"] == "[4, 4, 12]"


@claim("modern-decoders#windows")
@seeds
def test_with_linear_scaling_of_its_global_layers_it_computes_the_logits_of_gemma_3(seed):
    for difference in compare_decoders("Gemma 3 with linear scaling", seed).values():
        assert difference < BOUND


@claim("modern-decoders#windows")
@mutation(
    "examples/modern-decoders/kv_cache.py",
    "whole = layers // 6",
    "whole = layers / 6",
    fault="the example of Gemma's cache has parts of layers without a window",
)
@pytest.mark.parametrize(("name", "layers"), [("4B", 34), ("12B", 48), ("27B", 62)])
def test_the_cache_of_gemma_3_has_the_printed_part_of_its_size_without_windows(
    name, layers, printed
):
    from transformers import Gemma3TextConfig

    kinds = Gemma3TextConfig(num_hidden_layers=layers).layer_types
    sizes = {"full_attention": 131072, "sliding_attention": 1024}
    part = sum(sizes[kind] for kind in kinds) / (layers * 131072)
    shown = printed("examples", "kv_cache")[f"Gemma 3 {name}, part of the cache"]
    assert shown == f"{part:.1%}"


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


@claim("modern-decoders#tied")
@torch.no_grad()
@pytest.mark.parametrize("scale_embedding", [False, True])
@pytest.mark.parametrize("num_layers", [1, 4])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("vocab_size", "d"), [(100, 64), (100, 512), (8000, 512), (32000, 64)])
def test_an_untrained_decoder_predicts_almost_uniformly(
    vocab_size, d, tied, num_layers, scale_embedding
):
    torch.manual_seed(0)
    sizes = {"vocab_size": vocab_size, "d_model": d, "head_dim": d // 4, "dim_feedforward": 2 * d}
    options = {"tie_embeddings": tied, "scale_embedding": scale_embedding}
    config = DecoderConfig(**SIZES | sizes | options | {"num_layers": num_layers})
    ids = torch.randint(vocab_size, (4, 33))
    logits = Decoder2026(config)(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    assert abs(loss - math.log(vocab_size)) < (0.5 if tied else 1.5)


@claim("modern-decoders#tied")
@mutation(
    "examples/modern-decoders/tied.py",
    "if std:",
    "if not std:",
    fault="the example of tied embeddings changes the other table",
)
def test_with_the_table_of_nn_embedding_the_tied_decoder_starts_with_a_large_loss(printed):
    shown = printed("examples", "tied")
    uniform = float(shown["all tokens equally probable, loss"])
    assert uniform == round(math.log(1000), 2)
    assert abs(float(shown["not tied, loss"]) - uniform) < 1
    assert abs(float(shown["tied, loss"]) - uniform) < 1
    assert float(shown["tied, standard deviation 1, loss"]) > 20 * uniform


@claim("modern-decoders#since", kind="measurement")
def test_the_printed_sizes_of_newer_models_are_those_of_transformers(printed):
    shown = printed("examples", "newer")
    found = newer_models()
    assert shown.keys() == found.keys()
    for name, number in found.items():
        assert shown[name] == f"{number:,}"


def source(model: str) -> str:
    import transformers

    folder = Path(transformers.__file__).parent / "models" / model
    return (folder / f"modeling_{model}.py").read_text(encoding="utf-8")


@claim("models#decoder-2023", kind="measurement")
@pytest.mark.parametrize("model", ["Olmo2", "Exaone4"])
def test_olmo_2_and_exaone_4_normalize_only_after_a_sublayer(model):
    """The sublayers read x itself; with the weights of the norms at zero nothing is added."""
    import transformers

    sizes = NEW_SIZES | {"attn_implementation": "eager"}
    config = getattr(transformers, f"{model}Config")(**sizes)
    whole = getattr(transformers, f"{model}Model")(config).eval()
    layer, read = whole.layers[0], []
    for part in (layer.self_attn, layer.mlp):
        part.register_forward_pre_hook(
            lambda _, args, kwargs: read.append((*args, *kwargs.values())[0]), with_kwargs=True
        )
    names = [name for name, _ in layer.named_children() if "layernorm" in name]
    assert sorted(names) == ["post_attention_layernorm", "post_feedforward_layernorm"]
    for name in names:
        nn.init.zeros_(getattr(layer, name).weight)
    ids = random_ids(0)
    states = whole(ids, output_hidden_states=True).hidden_states
    for each in read:
        torch.testing.assert_close(each, states[0])
    torch.testing.assert_close(states[1], states[0])


@claim("modern-decoders#since", kind="measurement")
def test_the_sink_of_gpt_oss_is_one_more_term_of_the_denominator():
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    module = nn.Module().eval()
    module.num_key_value_groups, module.sinks = 1, torch.tensor([0.3, -1.0])
    q, k, v = torch.randn(3, 1, 2, 5, 8).unbind(0)
    _, weights = eager_attention_forward(module, q, k, v, None, 8**-0.5)
    exponentials = (q @ k.mT * 8**-0.5).exp()
    total = exponentials.sum(dim=-1, keepdim=True) + module.sinks.exp()[:, None, None]
    torch.testing.assert_close(weights, exponentials / total)


@claim("modern-decoders#since", kind="measurement")
@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("qwen3_next", "attn_output = attn_output * torch.sigmoid(gate)"),
        ("deepseek_v32", "min(self.index_topk, index_scores.shape[-1])"),
        ("llama4", "self.use_rope = config.no_rope_layers[layer_idx]"),
        ("smollm3", "self.use_rope = config.no_rope_layers[layer_idx]"),
        ("gpt_oss", "self.sinks = nn.Parameter(torch.empty(config.num_attention_heads))"),
    ],
)
def test_the_sources_of_newer_models_have_the_parts_of_the_table(model, line):
    assert line in source(model)


@claim("models#decoder-2023")
@mutation(
    "variants/decoder_2026.py",
    "y = self.attention(self.attention_norm(x), positions, cache)",
    "y = self.attention(x, positions, cache)",
    fault="our decoder has no norm before attention",
)
@pytest.mark.parametrize("name", ["Llama", "Qwen3"])
def test_llama_and_qwen3_have_the_same_layer(name):
    assert max(compare_decoders(name, 0).values()) < BOUND


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
    fault="the decoder has as many layers as LLaMA 7B",
)
def test_with_the_published_sizes_it_has_the_published_numbers_of_parameters(printed):
    shown = printed("examples", "parameters")
    assert shown["Qwen3 8B, billions"] == "8.19"
    assert shown["Qwen3 8B without embeddings, billions"] == "6.95"
    assert shown["Qwen3 30B-A3B, billions"] == "30.5"
    assert shown["Qwen3 30B-A3B, billions for a token"] == "3.35"  # published as 3.3


@claim("modern-decoders#rope-scaling")
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
    "examples/modern-decoders/short_texts.py",
    "(after - before).std()",
    "(after.std() - before.std()).abs()",
    fault="the example of short texts compares only the spread of the scores",
)
def test_each_scaling_changes_the_scores_of_short_texts(printed):
    """Pairs of features with variance 1: the change is known exactly."""
    shown = printed("examples", "short_texts")
    plain, _ = rope_frequencies(128)
    for distance in (50, 500):
        for scaling in ("linear", "ntk", "yarn"):
            scaled, size = rope_frequencies(128, scaling=scaling, factor=4)
            cosine = torch.cos(distance * (scaled - plain))
            change = (size**4 + 1 - 2 * size**2 * cosine).mean().sqrt().item()
            printed_change = float(shown[f"{scaling}, {distance} tokens apart, change"])
            assert printed_change == pytest.approx(change, abs=0.05)
            assert change > 0.3


@claim("modern-decoders#rope-scaling")
@pytest.mark.parametrize(("head_dim", "scaling"), [(7, ""), (8, "llama3")])
def test_an_unknown_scaling_or_an_odd_head_size_is_an_error(head_dim, scaling):
    with pytest.raises(ValueError, match=f"{scaling!r}, {head_dim}"):
        rope_frequencies(head_dim, scaling=scaling)


@claim("modern-decoders#flash")
@pytest.mark.parametrize("block", [1, 3, 8, 32, 100])
def test_attention_by_blocks_equals_softmax_over_all_keys(block):
    q, k, v = 5 * normal(2, 4, 32, 8), normal(2, 4, 32, 8, seed=1), normal(2, 4, 32, 6, seed=2)
    expected = (q @ k.mT / math.sqrt(8)).softmax(dim=-1) @ v
    close(attention_by_blocks(q, k, v, block), expected, 1e-12)


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest result."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numel = max(self.numel, result.numel())
        return result


@claim("modern-decoders#flash")
@pytest.mark.parametrize("block", [10, 64])
def test_attention_by_blocks_makes_at_most_block_scores_for_each_query(block):
    q, k, v = torch.randn(200, 4), torch.randn(300, 4), torch.randn(300, 4)
    with LargestTensor() as largest:
        attention_by_blocks(q, k, v, block)
    assert largest.numel == 200 * block


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
