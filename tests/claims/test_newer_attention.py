"""The claims of the page on newer attention: by hand, and equal to transformers."""

import math

import pytest
import torch
from torch import nn

from evidence.newer_decoders import COMPARISONS, FILES
from evidence.newer_models import model_source
from helpers import close, normal
from marks import claim
from small_decoders import BOUND, SIZES, seeds
from tables_of_models import assert_shown
from variants.decoder_2025 import Cache
from variants.newer_attention import (
    NewerConfig,
    NewerDecoder,
    softmax_with_sink,
)
from variants.sparse_attention import Indexer, SparseLatentAttention

CHAPTER = "newer-attention"


def make_newer(**options) -> NewerDecoder:
    torch.manual_seed(0)
    return NewerDecoder(NewerConfig(**SIZES | options)).double().eval()


def make_sparse(top_k: int, heads: int = 3) -> SparseLatentAttention:
    torch.manual_seed(0)
    indexer = Indexer(32, 20, nhead=heads, head_dim=8, rope_dim=6, top_k=top_k)
    sizes = {"d_model": 32, "nhead": 4, "query_rank": 20, "kv_rank": 14, "head_dim": 10}
    return SparseLatentAttention(indexer, **sizes, rope_dim=6).double()


# Sinks


@claim("newer-attention#sinks")
def test_with_a_sink_a_query_without_a_match_gives_a_weight_of_0_2(printed):
    shown = printed("examples", "sink_by_hand")
    assert shown["match, softmax"] == "0.75 and 0.25"
    assert shown["match, with a sink"] == "0.60 and 0.20"
    assert shown["no match, softmax"] == "0.50 and 0.50"
    assert shown["no match, with a sink"] == "0.10 and 0.10"


@claim("newer-attention#sinks")
def test_a_sink_is_one_more_term_of_the_denominator_and_minus_infinity_is_softmax():
    scores, sink = normal(2, 3, 4, 5), normal(3, seed=1)
    total = scores.exp().sum(dim=-1, keepdim=True) + sink.exp()[:, None, None]
    close(softmax_with_sink(scores, sink), scores.exp() / total)
    close(softmax_with_sink(scores, torch.full((3,), -math.inf)), scores.softmax(dim=-1))


@claim("newer-attention#sinks")
def test_sinks_are_one_number_per_head():
    assert count(sinks=True) - count() == SIZES["num_layers"] * SIZES["nhead"]


def count(**options) -> int:
    return sum(parameter.numel() for parameter in make_newer(**options).parameters())


@claim("newer-attention#sinks", kind="measurement")
def test_scaled_dot_product_attention_has_no_argument_for_sinks():
    doc = str(nn.functional.scaled_dot_product_attention.__doc__)
    arguments = doc.split("(", 1)[1].split(")", 1)[0]
    assert "attn_mask" in arguments
    assert "sink" not in arguments


# Gates


@claim("newer-attention#gates")
def test_the_gates_of_the_example_are_0_75_and_0_1(printed):
    shown = printed("examples", "gate_by_hand")
    assert shown == {"gate": "0.75 and 0.10", "gated": "3.00 and 0.80"}


@claim("newer-attention#gates")
def test_the_gate_is_as_large_as_the_matrix_of_the_queries():
    attention = make_newer(output_gate=True).layers[0].attention
    assert attention.gate.weight.shape == attention.query.weight.shape
    extra = count(output_gate=True) - count()
    assert extra == SIZES["num_layers"] * attention.query.weight.numel()


# Rotations


@claim("newer-attention#rotations")
def test_the_scores_of_the_example_have_a_part_without_distance(printed):
    shown = printed("examples", "rotations_by_hand")
    assert shown["4 of 4 rotated"] == "10, 0, -10"
    assert shown["2 of 4 rotated"] == "10, 2, -6"
    assert shown["0 of 4 rotated"] == "10, 10, 10"


def last_vectors(layers: int, **options) -> list[torch.Tensor]:
    """The last logits for two orders of the same earlier tokens."""
    model = make_newer(num_layers=layers, **options)
    return [model(torch.tensor([[*ids, 5, 1]]))[0, -1] for ids in ([3, 7, 9], [9, 7, 3])]


@claim("newer-attention#nope")
def test_without_rotations_one_layer_does_not_know_the_order_and_two_layers_do():
    close(*last_vectors(1, unrotated_every=1))
    for vectors in last_vectors(2, unrotated_every=1), last_vectors(1):
        assert (vectors[1] - vectors[0]).abs().max() > 1e-3


@claim("newer-attention#yarn")
def test_between_its_limits_yarn_scales_a_pair_by_hand(printed):
    shown = printed("examples", "yarn_by_hand")
    first, last = (float(shown[f"pair with {turns} turns"]) for turns in (32, 1))
    slow = (12 - first) / (last - first)
    expected = 1 - slow + slow / 32
    assert float(shown["pair 12, frequency times"]) == pytest.approx(expected, abs=0.005)
    assert shown["pair 0, frequency times"] == "1.00"
    assert float(shown["pair 31, frequency times"]) == pytest.approx(1 / 32, abs=0.005)
    size = 0.1 * math.log(32) + 1
    assert float(shown["queries and keys times"]) == pytest.approx(size, abs=0.005)
    assert float(shown["scores times"]) == pytest.approx(size**2, abs=0.005)
    assert math.isclose(4096 / (2 * math.pi) * 150000 ** (-2 * first / 64), 32, rel_tol=0.02)


@claim("newer-attention#yarn", kind="measurement")
def test_the_numbers_of_the_example_are_those_of_gpt_oss():
    from transformers import GptOssConfig

    config = GptOssConfig()
    rope = config.rope_parameters
    assert (config.head_dim, rope["rope_theta"]) == (64, 150000)
    assert (rope["factor"], rope["original_max_position_embeddings"]) == (32, 4096)
    assert (rope["beta_fast"], rope["beta_slow"], rope["truncate"]) == (32, 1, False)
    assert config.max_position_embeddings == 32 * 4096


# Norms


@claim("newer-attention#norms")
def test_the_sum_is_the_same_when_the_output_grows_tenfold(printed):
    shown = printed("examples", "norms_by_hand")
    assert shown["times 1, x + f(norm(x))"] == "8.00 and 2.00"
    assert shown["times 10, x + f(norm(x))"] == "71.00 and 11.00"
    assert shown["times 10, norm(x + f(x))"] == "1.40 and 0.22"
    for factor in (1, 10):
        assert shown[f"times {factor}, x + norm(f(x))"] == "2.40 and 1.20"


@claim("newer-attention#norms")
@torch.no_grad()
def test_with_norms_only_after_a_sublayer_reads_x_and_adds_a_vector_of_fixed_size():
    model = make_newer(norm_before=False, norm_after=True)
    layer = model.layers[0]
    read: dict[str, torch.Tensor] = {}
    for name in ("attention", "feed_forward"):
        module = getattr(layer, name)
        module.register_forward_pre_hook(lambda _, args, name=name: read.update({name: args[0]}))
    x = normal(2, 6, 32)
    for factor in (1, 1000):
        for weight in (layer.attention.output.weight, layer.feed_forward.down.weight):
            weight.mul_(factor)
        out = layer(x, torch.arange(6), Cache())
        middle = read["feed_forward"]
        close(read["attention"], x)
        for added in (middle - x, out - middle):
            size = added.square().mean(dim=-1).sqrt()
            assert ((size <= 1) & (size > 0.9 if factor > 1 else size > 0)).all()
    assert count(norm_before=False, norm_after=True) == count()


# Sparse attention


@claim("newer-attention#sparse")
def test_the_indexer_of_the_example_chooses_tokens_1_and_2(printed):
    shown = printed("examples", "index_by_hand")
    assert shown["head 0"] == "[2.0, 0.0, 2.0, 0.0]"
    assert shown["head 1"] == "[0.0, 1.0, 1.0, 0.0]"
    assert shown["index scores"] == "[2.0, 3.0, 5.0, 0.0]"
    assert shown["chosen"] == "[1, 2]"
    assert shown["over all"] == "14.8"
    assert shown["over the chosen"] == "10.0"


@claim("newer-attention#sparse")
@torch.no_grad()
def test_it_is_latent_attention_in_short_texts_and_another_in_longer_ones():
    sparse = make_sparse(8)
    state = {name: value for name, value in sparse.state_dict().items() if "indexer" not in name}
    dense = type(sparse).__mro__[1](32, 4, 20, 14, 10, 6).double()
    dense.load_state_dict(state)
    x = normal(2, 12, 32)
    difference = (sparse(x)[0] - dense(x)[0]).abs().amax(dim=(0, 2))
    assert (difference[:8] < 1e-9).all()
    assert (difference[8:] > 1e-4).all()


@claim("newer-attention#sparse")
def test_the_printed_costs_are_those_of_deepseek_v3_2(printed):
    from transformers import DeepseekV32Config

    c, shown = DeepseekV32Config(), printed("examples", "index_cost")
    entry = c.kv_lora_rank + c.qk_rope_head_dim
    pair = c.num_attention_heads * (entry + c.kv_lora_rank)
    index_pair = c.index_n_heads * c.index_head_dim
    assert (pair, index_pair, c.index_topk) == (139264, 8192, 2048)  # of exercise 3
    assert 139264 * 2048 / (139264 - 8192) == 2176
    for n in (4096, 131072):
        k = c.index_topk
        work = {"all": n * pair, "chosen": n * index_pair + k * pair}
        read = {"all": 2 * n * entry, "chosen": 2 * (n * c.index_head_dim + k * entry)}
        for which in ("all", "chosen"):
            name = f"{n:,} tokens, {which}"
            assert shown[f"{name}, million multiplications"] == f"{work[which] / 1e6:,.0f}"
            assert shown[f"{name}, MB read"] == f"{read[which] / 1e6:.1f}"
    assert shown["times fewer multiplications"] == f"{work['all'] / work['chosen']:.1f}"
    assert shown["numbers in the cache for a token"] == str(entry)
    assert shown["with the indexer's key"] == str(entry + c.index_head_dim)


# The decoder


@claim("newer-attention#model", kind="measurement")
def test_the_lines_of_the_table_are_the_configurations_of_transformers():
    from transformers import GptOssConfig, Olmo2Config, Qwen3NextConfig, SmolLM3Config

    gpt, smol, qwen = GptOssConfig(), SmolLM3Config(), Qwen3NextConfig()
    assert gpt.sliding_window == 128
    assert gpt.layer_types == 18 * ["sliding_attention", "full_attention"]
    assert smol.no_rope_layers == 9 * [1, 1, 1, 0]
    assert qwen.rope_parameters["partial_rotary_factor"] == 0.25
    assert qwen.layer_types == 12 * [*3 * ["linear_attention"], "full_attention"]
    assert Olmo2Config().attention_bias is False
    assert "self.q_norm = Olmo2RMSNorm(config.num_attention_heads *" in model_source("olmo2")
    for model in ("gpt_oss", "smollm3"):
        assert "q_norm" not in model_source(model)


# Equal to transformers


@claim("newer-attention#equal")
@seeds
@pytest.mark.parametrize("name", COMPARISONS)
def test_with_the_same_weights_it_computes_what_the_models_of_transformers_do(name, seed):
    assert max(COMPARISONS[name](seed).values()) < BOUND


@claim("newer-attention#equal")
def test_the_differences_in_the_table_belong_to_this_code(printed):
    assert assert_shown("newer", FILES, printed("examples", "equal")) == COMPARISONS.keys()
