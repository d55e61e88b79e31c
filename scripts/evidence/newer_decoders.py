"""Decoders since 2024 and those of transformers with the same random weights, in small sizes.

scripts/experiments/newer.py measures their differences for the page on newer attention.
Importing transformers takes seconds, so only the functions do.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from evidence.hugging_face_models import FILES as SHARED_FILES
from evidence.hugging_face_models import (
    LATENT_NAMES,
    LATENT_SIZES,
    LENGTH,
    OUR_EXPERTS,
    OUR_SIZES,
    OUR_YARN,
    PARTS,
    THEIR_EXPERTS,
    YARN,
    Differences,
    Options,
    compare_logits,
    random_decoder,
    random_ids,
    randomize,
    relative_difference,
    renamed,
    rope,
)
from variants.experts import GatedFeedForward, MixtureOfExperts
from variants.gated_delta_net import GatedDeltaNet
from variants.hugging_face import NAMES, load_hugging_face
from variants.newer_attention import NewerConfig, NewerDecoder
from variants.sparse_attention import Indexer, SparseLatentAttention

FILES = [  # on which the differences depend
    *SHARED_FILES,
    "scripts/evidence/newer_decoders.py",
    *(
        f"snippets/variants/{name}.py"
        for name in ("delta_rule", "gated_delta_net", "newer_attention", "sparse_attention")
    ),
]
State = dict[str, Tensor]
NORM = "feed_forward_norm"

# gpt-oss


class ClampedSwiGLU(nn.Module):
    """An expert of gpt-oss: with biases, and both parts clamped."""

    def __init__(self, d_model: int, dim_feedforward: int):
        super().__init__()
        self.gate = nn.Linear(d_model, dim_feedforward)
        self.up = nn.Linear(d_model, dim_feedforward)
        self.down = nn.Linear(dim_feedforward, d_model)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate(x).clamp(max=7.0), self.up(x).clamp(-7.0, 7.0)
        return self.down((up + 1) * gate * (1.702 * gate).sigmoid())


def load_gpt_oss(ours: NewerDecoder, state: State) -> None:
    """Also adds the biases and the experts, which our decoder lacks."""
    d, width = ours.config.d_model, ours.config.dim_feedforward
    for number, layer in enumerate(ours.layers):
        attention, mixture = layer.attention, layer.feed_forward
        linears = [attention.query, attention.key, attention.value, attention.output]
        for linear in (*linears, mixture.router):
            linear.bias = nn.Parameter(torch.empty(linear.out_features))
        mixture.experts = nn.ModuleList(ClampedSwiGLU(d, width) for _ in mixture.experts)
        place = f"model.layers.{number}.mlp.experts"
        for name in ("gate_up_proj", "down_proj"):  # theirs are (inputs, outputs)
            weights, biases = state.pop(f"{place}.{name}"), state.pop(f"{place}.{name}_bias")
            for i, (weight, bias) in enumerate(zip(weights.mT, biases, strict=True)):
                parts = {"down": slice(None)}
                if name == "gate_up_proj":  # their rows alternate
                    parts = {"gate": slice(0, None, 2), "up": slice(1, None, 2)}
                for part, rows in parts.items():
                    state[f"{place}.{i}.{part}.weight"] = weight[rows]
                    state[f"{place}.{i}.{part}.bias"] = bias[rows]
    names = {"mlp.router": "mlp.gate", "sinks": "sink", "post_attention_layernorm": NORM}
    ours.load_state_dict(renamed(renamed(state, names), NAMES))


# Qwen3-Next

LINEAR_SIZES = {"key_dim": 8, "value_dim": 12, "num_key_heads": 2, "num_value_heads": 4}
DELTA_NAMES = {
    "linear_attn": "self_attn",
    "conv1d": "conv",
    "dt_bias": "decay.bias",
    "A_log": "log_rate",
    "out_proj": "output",
}


class SharedExperts(MixtureOfExperts):
    """The experts of Qwen3-Next: one works for every token, behind a gate."""

    def __init__(self, d_model: int, dim_feedforward: int, num_experts: int, top_k: int):
        super().__init__(d_model, dim_feedforward, num_experts, top_k)
        self.shared_expert = GatedFeedForward(d_model, dim_feedforward, "silu")
        self.shared_expert_gate = nn.Linear(d_model, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.shared_expert_gate(x).sigmoid() * self.shared_expert(x)


def load_qwen3_next(ours: NewerDecoder, state: State) -> None:
    """Also exchanges the layers for those with a state, where theirs has one, and the experts."""
    config = ours.config
    d, heads, groups = config.d_model, config.nhead, LINEAR_SIZES["num_key_heads"]
    keys, values = LINEAR_SIZES["key_dim"], 2 * LINEAR_SIZES["value_dim"]  # of a group
    for number, layer in enumerate(ours.layers):
        place = f"model.layers.{number}.linear_attn."
        if config.num_experts:
            sizes = config.dim_feedforward, config.num_experts, config.experts_per_token
            layer.feed_forward = SharedExperts(d, *sizes)
        if f"{place}A_log" not in state:  # queries and gates of a head are in one matrix
            name = f"model.layers.{number}.self_attn.q_proj.weight"
            both = state.pop(name).view(heads, 2, -1, d).transpose(0, 1).reshape(2, -1, d)
            state[name], state[name.replace("q_proj", "gate")] = both
            continue
        layer.attention = GatedDeltaNet(d, number, **LINEAR_SIZES, eps=config.norm_eps)
        mixed = state.pop(f"{place}in_proj_qkvz.weight").view(groups, -1, d)
        parts = mixed.split([keys, keys, values, values], dim=1)
        *inputs, gate = (part.reshape(-1, d) for part in parts)
        state[f"{place}inputs.weight"] = torch.cat(inputs)
        state[f"{place}gate.weight"] = gate
        both = state.pop(f"{place}in_proj_ba.weight").view(groups, 2, -1, d)
        beta, decay = both.transpose(0, 1).reshape(2, -1, d)
        state |= {f"{place}beta.weight": beta, f"{place}decay.weight": decay}
    load_hugging_face(ours, renamed(state, DELTA_NAMES))


# The name of a model of transformers, its options, ours, and the loader.
Load = Callable[[NewerDecoder, State], None]
DECODERS: dict[str, tuple[str, Options, Options, Load]] = {
    "OLMo 2": (
        "Olmo2ForCausalLM",
        {},
        {"qk_norm": False, "joint_qk_norm": True, "norm_before": False, "norm_after": True},
        load_hugging_face,
    ),
    "SmolLM3": (
        "SmolLM3ForCausalLM",
        {"no_rope_layer_interval": 2, "tie_word_embeddings": True},
        {"qk_norm": False, "unrotated_every": 2, "tie_embeddings": True},
        load_hugging_face,
    ),
    "gpt-oss": (
        "GptOssForCausalLM",
        {
            "rope_parameters": rope(**YARN, truncate=False),
            **{"num_local_experts": 6, "num_experts_per_tok": 2},
            **{"max_position_embeddings": 8192, "sliding_window": 4},
        },
        {
            **{"qk_norm": False, "sinks": True, **OUR_EXPERTS},
            **{"window": 4, "global_every": 2, "same_rotations": True},
            **OUR_YARN,
            "whole_pairs": False,
        },
        load_gpt_oss,
    ),
    "Qwen3-Next": (
        "Qwen3NextForCausalLM",
        {
            "rope_parameters": rope(partial_rotary_factor=0.5),
            "layer_types": ["linear_attention", "full_attention", "linear_attention"],
            **{"linear_num_key_heads": 2, "linear_num_value_heads": 4},
            **{"linear_key_head_dim": 8, "linear_value_head_dim": 12},
            **THEIR_EXPERTS,
            "shared_expert_intermediate_size": 24,
        },
        {"offset_norm": True, "output_gate": True, "rotated": 0.5, **OUR_EXPERTS},
        load_qwen3_next,
    ),
}


def compare_newer(name: str, seed: int) -> Differences:
    model, their_options, our_options, load = DECODERS[name]
    theirs = random_decoder(model, their_options, seed)
    ours = NewerDecoder(NewerConfig(**OUR_SIZES | our_options)).eval()
    load(ours, dict(theirs.state_dict()))
    return compare_logits(ours, theirs, random_ids(seed))


# DeepSeek-V3.2

SPARSE_NAMES = {
    **LATENT_NAMES,
    "indexer.wq_b": "indexer.query",
    "indexer.wk.": "indexer.key.",
    "indexer.k_norm": "indexer.key_norm",
    "indexer.weights_proj": "indexer.weight",
}


@torch.no_grad()
def compare_sparse_attention(seed: int) -> Differences:
    """The attention of DeepSeek-V3.2, at once and with a cache in each.

    The roots of the widths are powers of two: theirs divides the indexer's scores by them, ours
    doesn't, and rounding must not change which of two almost equal scores is larger.
    """
    from transformers import DeepseekV32Config, DynamicCache
    from transformers.models.deepseek_v32.modeling_deepseek_v32 import (
        DeepseekV32Attention,
        DeepseekV32RotaryEmbedding,
    )

    index = {"index_n_heads": 16, "index_head_dim": 16, "index_topk": 5}
    sizes = LATENT_SIZES | index | {"num_hidden_layers": 1, "rope_parameters": rope()}
    config = DeepseekV32Config(**sizes)
    theirs = DeepseekV32Attention(config, 0).eval()
    randomize(theirs, seed)
    indexer = Indexer(32, 20, nhead=16, head_dim=16, rope_dim=6, top_k=5, base=500.0)
    sizes = {"d_model": 32, "nhead": 4, "query_rank": 20, "kv_rank": 14, "head_dim": 10}
    ours = SparseLatentAttention(indexer, **sizes, rope_dim=6, base=500.0).eval()
    ours.load_state_dict(renamed(theirs.state_dict(), SPARSE_NAMES))
    x = torch.randn(2, LENGTH, 32, generator=torch.Generator().manual_seed(seed))
    later = torch.full((LENGTH, LENGTH), -torch.inf).triu(1)[None, None]
    turn = DeepseekV32RotaryEmbedding(config)

    def attend(part: Tensor, start: int, past: DynamicCache | None = None) -> Tensor:
        end = start + part.size(1)
        positions = torch.arange(start, end)[None]
        mask = later[:, :, start:end, :end].expand(2, -1, -1, -1)
        return theirs(part, turn(part, positions), mask, past)[0]

    cache, past, start, mine, expected = None, DynamicCache(config=config), 0, [], []
    for part in x.split(PARTS, dim=1):
        output, cache = ours(part, cache)
        mine.append(output)
        expected.append(attend(part, start, past))
        start += part.size(1)
    return {
        "outputs of attention": relative_difference(ours(x)[0], attend(x, 0)),
        "outputs with a cache": relative_difference(torch.cat(mine, 1), torch.cat(expected, 1)),
    }


COMPARISONS: dict[str, Callable[[int], Differences]] = {
    **{name: functools.partial(compare_newer, name) for name in DECODERS},
    "DeepSeek-V3.2": compare_sparse_attention,
}
