"""What models newer than our decoders have, read in the sources of transformers."""

import re
from pathlib import Path
from typing import Any

NEWER = {  # their folders in transformers
    "Qwen3-Next": "qwen3_next",
    "Qwen3.5": "qwen3_5",
    "Kimi Linear": "kimi_linear",
    "OLMo Hybrid": "olmo_hybrid",
    "DeepSeek-V3.2": "deepseek_v32",
    "DeepSeek-V4": "deepseek_v4",
    "gpt-oss": "gpt_oss",
    "Llama 4": "llama4",
    "SmolLM3": "smollm3",
    "OLMo 2": "olmo2",
    "EXAONE 4": "exaone4",
    "Gemma 3n": "gemma3n",
    "Qwen4-Exp": "qwen4_exp",
    "GLM-5-Next": "glm5_next",
    "HY-V4": "hy_v4",
    "Nemotron-H": "nemotron_h",
    "Granite MoE Hybrid": "granitemoehybrid",
    "Falcon-H1": "falcon_h1",
}


def model_source(model: str) -> str:
    import transformers

    folder = Path(transformers.__file__).parent / "models" / model
    return (folder / f"modeling_{model}.py").read_text(encoding="utf-8")


def year_of(name: str) -> int:
    """The year in the header of the file of a newer model in transformers."""
    header = re.search(r"Copyright (\d{4})", model_source(NEWER[name]))
    assert header, name
    return int(header[1])


def newer_models() -> dict[str, float]:
    """Years and sizes of newer models, from the sources of transformers."""
    from transformers import AutoConfig

    def load(model_type: str) -> Any:
        return AutoConfig.for_model(model_type)

    found: dict[str, float] = {f"{name}, year": year_of(name) for name in NEWER}
    for name, model_type in (
        ("Qwen3-Next", "qwen3_next"),
        ("Qwen3.5", "qwen3_5_text"),
        ("Kimi Linear", "kimi_linear"),
        ("OLMo Hybrid", "olmo_hybrid"),
        ("Qwen4-Exp", "qwen4_exp_text"),
    ):
        kinds = load(model_type).layer_types
        found[f"{name}, layers"] = len(kinds)
        found[f"{name}, linear layers"] = kinds.count("linear_attention")
    sparse, compressed = load("deepseek_v32"), load("deepseek_v4")
    found["DeepSeek-V3.2, indexed layers"] = sparse.layer_types.count("indexed_attention")
    found["DeepSeek-V3.2, keys of a query"] = sparse.index_topk
    rates = compressed.compress_rates
    entry, heavily = "compressed_sparse_attention", "heavily_compressed_attention"
    found["DeepSeek-V4, tokens in an entry"] = rates[entry]
    found["DeepSeek-V4, tokens in a heavily compressed entry"] = rates[heavily]
    rotated = load("qwen3_5_text").rope_parameters["partial_rotary_factor"]
    found["Qwen3.5, rotated part of a head"] = rotated
    interval = load("llama4_text").no_rope_layer_interval
    found["Llama 4, one layer without rotation in"] = interval
    found["DeepSeek-V4, residual streams"] = compressed.hc_mult
    found["GLM-5-Next, residual streams"] = load("glm5_next_text").hc_mult
    found["HY-V4, residual streams"] = load("hy_v4").hc_mult
    small = load("gemma3n_text")
    found["Gemma 3n, layers"] = small.num_hidden_layers
    found["Gemma 3n, layers that share keys and values"] = small.num_kv_shared_layers
    further = load("deepseek_v3").num_nextn_predict_layers
    found["DeepSeek-V3, further layers for prediction"] = further
    return found
