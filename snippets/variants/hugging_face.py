"""Loads the weights of Llama, Qwen3, Qwen3-MoE and Gemma 3 into our decoder."""

from collections.abc import Mapping

from torch import Tensor

from variants.decoder_2025 import Decoder2025

# --8<-- [start:names]
# Parts of their parameters' names, and of ours.
NAMES = {
    "model.": "",
    "embed_tokens": "embedding",
    "lm_head": "output",
    "self_attn": "attention",
    "q_norm": "query_norm",
    "k_norm": "key_norm",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "o_proj": "output",
    "input_layernorm": "attention_norm",
    "pre_feedforward_layernorm": "feed_forward_norm",
    "post_feedforward_layernorm": "after_feed_forward",
    "mlp.gate.": "feed_forward.router.",
    "mlp": "feed_forward",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
}


# --8<-- [end:names]
# --8<-- [start:load]
def load_hugging_face(model: Decoder2025, state: Mapping[str, Tensor]) -> None:
    """Copy the state_dict of a model of transformers into ours.

    A name that ours lacks, or a missing one, is PyTorch's RuntimeError.
    """
    after_attention = (
        "after_attention" if model.config.norm_after else "feed_forward_norm"
    )
    names = {"post_attention_layernorm": after_attention, **NAMES}
    ours: dict[str, Tensor] = {}
    for name, value in state.items():
        for old, new in names.items():
            name = name.replace(old, new)
        folder, _, part = name.rpartition("experts.")
        if not folder:
            ours[name] = value
            continue
        for i, matrix in enumerate(value):  # one for each expert
            place = f"{folder}experts.{i}"
            if part == "down":
                ours[f"{place}.down.weight"] = matrix
            else:  # gate_up_proj: both, one above the other
                gate, up = matrix.chunk(2)
                ours[f"{place}.gate.weight"] = gate
                ours[f"{place}.up.weight"] = up
    model.load_state_dict(ours)


# --8<-- [end:load]
