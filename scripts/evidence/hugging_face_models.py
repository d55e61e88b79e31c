"""Our models and those of transformers with the same random weights, in small sizes.

scripts/experiments/modern.py measures their differences for the page on modern decoders.
Importing transformers takes seconds, so only the functions do.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from transformer import TransformerConfig
from variants.decoder_2025 import Cache, Decoder2025, DecoderConfig
from variants.decoder_only import DecoderOnly
from variants.deepseek_experts import DeepSeekExperts
from variants.experts import load_balancing_loss
from variants.hugging_face import load_hugging_face
from variants.latent_attention import LatentAttention
from variants.learned import LearnedPositions
from variants.minilm import Bert, load_bert
from variants.swiglu import GELUFeedForward, gelu_tanh

FILES = [  # on which the differences depend
    "scripts/evidence/hugging_face_models.py",
    "scripts/evidence/newer_models.py",
    "snippets/transformer.py",
    *(
        f"snippets/variants/{name}.py"
        for name in (
            *("decoder_2025", "decoder_only", "deepseek_experts", "experts", "hugging_face"),
            *("latent_attention", "learned", "minilm", "rmsnorm", "rope_scaling", "rotary"),
            "swiglu",
        )
    ),
]
LENGTH = 32
PARTS = [10, 5] + 17 * [1]  # the tokens that come at once when there is a cache
NEW_SIZES = {
    **{"vocab_size": 40, "hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2},
    **{"head_dim": 12, "num_hidden_layers": 3, "intermediate_size": 24, "rms_norm_eps": 1e-5},
    "pad_token_id": None,
}
OUR_SIZES = {
    **{"vocab_size": 40, "d_model": 32, "nhead": 4, "num_kv_heads": 2, "head_dim": 12},
    **{"num_layers": 3, "dim_feedforward": 24, "norm_eps": 1e-5, "base": 500.0},
}
Options = dict[str, Any]


def rope(theta: float = 500.0, kind: str = "default", **options: float) -> Options:
    return {"rope_type": kind, "rope_theta": theta, **options}


LOCAL, SCALED = rope(50.0), rope(kind="linear", factor=8.0)
THEIR_GEMMA: Options = {
    "rope_parameters": {"full_attention": rope(), "sliding_attention": LOCAL},
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    **{"sliding_window": 4, "query_pre_attn_scalar": 20},
}
OUR_GEMMA: Options = {
    **{"local_base": 50.0, "window": 4, "global_every": 2, "score_dim": 20},
    **{"activation": "gelu", "offset_norm": True, "norm_after": True},
    **{"scale_embedding": True, "tie_embeddings": True},
}
THEIR_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
OUR_EXPERTS = {"num_experts": 6, "experts_per_token": 2}
YARN = {"kind": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}
OUR_YARN: Options = {"rope_scaling": "yarn", "rope_factor": 4.0, "original_len": 2048}

# The name of a model of transformers, its options, and ours.
DECODERS: dict[str, tuple[str, Options, Options]] = {
    "Llama": ("LlamaForCausalLM", {}, {"qk_norm": False}),
    "Qwen3": ("Qwen3ForCausalLM", {"tie_word_embeddings": True}, {"tie_embeddings": True}),
    "Qwen3-MoE": ("Qwen3MoeForCausalLM", {**THEIR_EXPERTS, "norm_topk_prob": True}, OUR_EXPERTS),
    "Gemma 3": ("Gemma3ForCausalLM", THEIR_GEMMA, OUR_GEMMA),
    "Gemma 3 with linear scaling": (  # that of the global layers only
        "Gemma3ForCausalLM",
        {**THEIR_GEMMA, "rope_parameters": {"full_attention": SCALED, "sliding_attention": LOCAL}},
        OUR_GEMMA | {"rope_scaling": "linear", "rope_factor": 8.0},
    ),
    "Llama with YaRN": (
        "LlamaForCausalLM",
        {"max_position_embeddings": 8192, "rope_parameters": rope(**YARN)},
        {"qk_norm": False, **OUR_YARN},
    ),
    "Llama with linear scaling": (
        "LlamaForCausalLM",
        {"rope_parameters": rope(kind="linear", factor=4.0)},
        {"qk_norm": False, "rope_scaling": "linear", "rope_factor": 4.0},
    ),
    "Llama with NTK scaling": (  # theirs depends on the length: 4 at twice the original
        "LlamaForCausalLM",
        {
            "max_position_embeddings": LENGTH // 2,
            "rope_parameters": rope(kind="dynamic", factor=3.0),
        },
        {"qk_norm": False, "rope_scaling": "ntk", "rope_factor": 4.0},
    ),
}


def randomize(module: nn.Module, seed: int) -> None:
    """Make every parameter random, those of the norms too."""
    torch.manual_seed(seed)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)


def random_decoder(name: str, options: Options, seed: int) -> nn.Module:
    """A model of transformers with random weights."""
    import transformers

    model = getattr(transformers, name)
    sizes = NEW_SIZES | {"attn_implementation": "eager", "rope_parameters": rope()} | options
    theirs = model(model.config_class(**sizes)).eval()
    randomize(theirs, seed)
    return theirs


def new_decoders(name: str, seed: int) -> tuple[Decoder2025, nn.Module]:
    """Our decoder and that of transformers with the same weights."""
    model, their_options, our_options = DECODERS[name]
    theirs = random_decoder(model, their_options, seed)
    ours = Decoder2025(DecoderConfig(**OUR_SIZES | our_options)).eval()
    load_hugging_face(ours, theirs.state_dict())
    return ours, theirs


def random_ids(seed: int) -> Tensor:
    return torch.randint(40, (2, LENGTH), generator=torch.Generator().manual_seed(seed))


def relative_difference(ours: Tensor, theirs: Tensor) -> float:
    """The largest difference as a fraction of the largest number."""
    assert ours.shape == theirs.shape
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


Differences = dict[str, float]  # by what is compared


@torch.no_grad()
def compare_logits(ours: nn.Module, theirs: Any, ids: Tensor, cached: bool = True) -> Differences:
    """The logits, at once and with a cache in each model."""
    found = {"logits": relative_difference(ours(ids), theirs(ids, use_cache=False).logits)}
    cache, past, our_logits, their_logits = Cache(), None, [], []
    for part in ids.split(PARTS, dim=1) if cached else ():
        our_logits.append(ours(part, cache))
        output = theirs(part, past_key_values=past, use_cache=True)
        past = output.past_key_values
        their_logits.append(output.logits)
    if cached:
        both = torch.cat(our_logits, 1), torch.cat(their_logits, 1)
        found["logits with a cache"] = relative_difference(*both)
    return found


def compare_decoders(name: str, seed: int) -> Differences:
    """With NTK scaling theirs rotates by the length so far, so a cached key depends on it."""
    return compare_logits(*new_decoders(name, seed), random_ids(seed), cached="NTK" not in name)


@torch.no_grad()
def compare_losses(seed: int) -> Differences:
    """The load-balancing loss of all layers of Qwen3-MoE."""
    ours, theirs = new_decoders("Qwen3-MoE", seed)
    ids = random_ids(seed)
    ours(ids)
    logits = torch.cat([layer.feed_forward.router_logits for layer in ours.layers])
    expected = theirs(ids, output_router_logits=True).aux_loss
    loss = load_balancing_loss(logits, 2)
    return {"load-balancing loss": relative_difference(loss, expected)}


# DeepSeek-V3

LATENT_NAMES = {
    "q_a_proj": "query_down",
    "q_a_layernorm": "query_norm",
    "q_b_proj": "query_up",
    "kv_a_proj_with_mqa": "kv_down",
    "kv_a_layernorm": "kv_norm",
    "kv_b_proj": "kv_up",
    "o_proj": "output",
}


def renamed(state: Mapping[str, Tensor], names: dict[str, str]) -> dict[str, Tensor]:
    """The tensors with parts of their names replaced."""
    result = {}
    for name, value in state.items():
        for old, new in names.items():
            name = name.replace(old, new)
        result[name] = value
    return result


LATENT_SIZES: Options = {  # of the attention in DeepSeek-V3, small
    **{"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4},
    **{"q_lora_rank": 20, "kv_lora_rank": 14, "qk_nope_head_dim": 10, "v_head_dim": 10},
    **{"qk_rope_head_dim": 6, "attn_implementation": "eager"},
}


@torch.no_grad()
def compare_latent_attention(seed: int) -> Differences:
    """The attention of DeepSeek-V3; theirs has no cache here."""
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import (
        DeepseekV3Attention,
        DeepseekV3RotaryEmbedding,
    )

    config = DeepseekV3Config(**LATENT_SIZES, rope_parameters=rope())
    theirs = DeepseekV3Attention(config, 0).eval()
    randomize(theirs, seed)
    ours = LatentAttention(32, 4, 20, 14, 10, 6, base=500.0).eval()
    ours.load_state_dict(renamed(theirs.state_dict(), LATENT_NAMES))
    x = torch.randn(2, LENGTH, 32, generator=torch.Generator().manual_seed(seed))
    positions = torch.arange(LENGTH)[None]
    later = torch.full((LENGTH, LENGTH), -torch.inf).triu(1)
    expected = theirs(x, DeepseekV3RotaryEmbedding(config)(x, positions), later)[0]
    cache, outputs = None, []
    for part in x.split(PARTS, dim=1):
        output, cache = ours(part, cache)
        outputs.append(output)
    return {
        "outputs of attention": relative_difference(ours(x)[0], expected),
        "outputs with a cache": relative_difference(torch.cat(outputs, 1), expected),
    }


EXPERT_NAMES = {
    "gate.weight": "router.weight",
    "gate.e_score_correction_bias": "bias",
    "shared_experts.gate_proj": "shared.gate",
    "shared_experts.up_proj": "shared.up",
    "shared_experts.down_proj": "shared.down",
}


@torch.no_grad()
def compare_deepseek_experts(seed: int) -> Differences:
    """The mixture of experts of DeepSeek-V3, with a bias and groups."""
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3MoE

    sizes = {"hidden_size": 32, "moe_intermediate_size": 24, "n_routed_experts": 12}
    groups = {"num_experts_per_tok": 3, "n_group": 4, "topk_group": 2, "n_shared_experts": 1}
    scale = {"routed_scaling_factor": 2.5, "norm_topk_prob": True}
    theirs = DeepseekV3MoE(DeepseekV3Config(**sizes, **groups, **scale)).eval()
    randomize(theirs, seed)
    generator = torch.Generator().manual_seed(seed)
    theirs.gate.e_score_correction_bias.normal_(std=0.2, generator=generator)
    ours = DeepSeekExperts(32, 24, 12, 3, 4, 2).eval()
    state = renamed(theirs.state_dict(), EXPERT_NAMES)
    both = state.pop("experts.gate_up_proj"), state.pop("experts.down_proj")
    for i, (gate_and_up, down) in enumerate(zip(*both, strict=True)):
        gate, up = gate_and_up.chunk(2)
        parts = {"gate": gate, "up": up, "down": down}
        state |= {f"experts.{i}.{part}.weight": value for part, value in parts.items()}
    ours.load_state_dict(state)
    x = torch.randn(2, LENGTH, 32, generator=generator)
    return {"outputs of the experts": relative_difference(ours(x), theirs(x))}


# BERT and GPT-2


class TanhGELUFeedForward(GELUFeedForward):
    """The feed-forward network of GPT-2."""

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(gelu_tanh(self.linear1(x))))


def old_config(**options: Any) -> TransformerConfig:
    return TransformerConfig(40, 40, 32, 4, 3, 0, 48, 0.0, max_len=LENGTH, **options)


@torch.no_grad()
def compare_bert(seed: int) -> Differences:
    """The vectors of real tokens after the last layer; one sentence is padded."""
    from transformers import BertConfig, BertModel

    sizes = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "intermediate_size": 48}
    sizes |= {"num_attention_heads": 4, "max_position_embeddings": LENGTH}
    config = BertConfig(**sizes, attn_implementation="eager")
    theirs = BertModel(config, add_pooling_layer=False).eval()
    randomize(theirs, seed)
    ours = Bert(old_config(layer_norm_eps=1e-12)).eval()
    load_bert(ours, theirs.state_dict())
    ids, real = random_ids(seed), torch.ones(2, LENGTH, dtype=torch.bool)
    real[1, LENGTH // 2 :] = False
    expected = theirs(ids, attention_mask=real.long()).last_hidden_state
    return {"encoder outputs": relative_difference(ours(ids, real)[real], expected[real])}


GPT2_NAMES = {
    "attn.c_attn": "self_attention.all",
    "wte.": "embedding.embedding.",
    "wpe.weight": "position.table",
    "ln_f": "stack.norm",
    "h.": "stack.layers.",
    "attn.c_proj": "self_attention.output",
    "attn.": "self_attention.",
    "ln_1": "norm1",
    "ln_2": "norm2",
    "mlp.c_fc": "feed_forward.linear1",
    "mlp.c_proj": "feed_forward.linear2",
}


@torch.no_grad()
def compare_gpt2(seed: int) -> Differences:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_positions": LENGTH, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_inner": 48}
    ids = {"vocab_size": 40, "bos_token_id": None, "eos_token_id": None}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, **ids, attn_implementation="eager")).eval()
    randomize(theirs, seed)
    ours = DecoderOnly(old_config(norm_first=True)).eval()
    ours.embedding.scale = 1.0
    ours.position = LearnedPositions(32, LENGTH, 0.0)
    for layer in ours.stack.layers:
        layer.feed_forward = TanhGELUFeedForward(32, 48, 0.0)
    state: dict[str, Tensor] = {}
    for name, value in renamed(theirs.transformer.state_dict(), GPT2_NAMES).items():
        if "layers" in name and value.dim() == 2:
            value = value.T  # theirs are (inputs, outputs)
        if ".all." in name:  # queries, keys and values
            for part, rows in zip(("query", "key", "value"), value.chunk(3), strict=True):
                state[name.replace("all", part)] = rows
        else:
            state[name] = value
    state["output.weight"] = state["embedding.embedding.weight"]
    ours.load_state_dict(state)
    ids = random_ids(seed)
    return {"logits": relative_difference(ours(ids), theirs(ids).logits)}


def all_comparisons() -> dict[str, Callable[[int], Differences]]:
    """A function of the seed for each model."""
    return {
        **{name: functools.partial(compare_decoders, name) for name in DECODERS},
        "Qwen3-MoE, training": compare_losses,
        "DeepSeek-V3": compare_latent_attention,
        "DeepSeek-V3, experts": compare_deepseek_experts,
        "GPT-2": compare_gpt2,
        "BERT": compare_bert,
    }
