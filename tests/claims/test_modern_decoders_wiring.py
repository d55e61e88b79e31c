"""The claims of the page on modern decoders about the wiring of a layer."""

import pytest
import torch
from torch import nn

from helpers import close, normal
from marks import claim

CHAPTER = "modern-decoders"
SIZES = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 24}


class Sublayer(nn.Module):
    """In place of attention or a feed-forward network: its input times a factor, squared."""

    def __init__(self, factor: float, is_attention: bool):
        super().__init__()
        self.factor, self.is_attention = factor, is_attention

    def forward(self, *inputs, hidden_states=None, **_):
        x = inputs[0] if inputs else hidden_states
        y = self.factor * x.square()
        return (y, None) if self.is_attention else y


def layer_of(model_type: str, **sizes) -> nn.Module:
    """A layer of transformers with random norms, whose two sublayers are replaced."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(model_type, **SIZES | sizes)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).double().eval()
    layer = next(module for module in model.modules() if isinstance(module, nn.ModuleList))[1]
    for name, weight in layer.named_parameters():
        if "norm" in name or "ln" in name:
            nn.init.normal_(weight)
    for name, _ in list(layer.named_children()):
        if name in ("self_attn", "attn"):
            setattr(layer, name, Sublayer(0.5, is_attention=True))
        elif name == "mlp":
            setattr(layer, name, Sublayer(0.25, is_attention=False))
    return layer


def attended(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x.square()


def fed_forward(x: torch.Tensor) -> torch.Tensor:
    return 0.25 * x.square()


def first_output(output):
    return output[0] if isinstance(output, tuple) else output


@claim("modern-decoders#model", kind="measurement")
@torch.no_grad()
def test_llama_gemma_3_and_gpt_j_have_the_wiring_of_the_table():
    x, heads = normal(2, 5, 32), {"num_attention_heads": 4, "num_key_value_heads": 2}
    llama = layer_of("llama", **heads)
    y = x + attended(llama.input_layernorm(x))
    y = y + fed_forward(llama.post_attention_layernorm(y))
    close(first_output(llama(x)), y)

    gemma = layer_of("gemma3_text", head_dim=8, **heads)
    y = x + gemma.post_attention_layernorm(attended(gemma.input_layernorm(x)))
    y = y + gemma.post_feedforward_layernorm(fed_forward(gemma.pre_feedforward_layernorm(y)))
    close(first_output(gemma(x)), y)

    gpt_j = layer_of("gptj", n_embd=32, n_layer=2, n_head=4, rotary_dim=4)
    normed = gpt_j.ln_1(x)
    close(first_output(gpt_j(x)), x + attended(normed) + fed_forward(normed))


@claim("newer-attention#since", kind="measurement")
@pytest.mark.parametrize("model_type", ["olmo2", "exaone4"])
@torch.no_grad()
def test_olmo_2_and_exaone_4_normalize_only_after_a_sublayer(model_type):
    x = normal(2, 5, 32)
    layer = layer_of(model_type, num_attention_heads=4, num_key_value_heads=2)
    y = x + layer.post_attention_layernorm(attended(x))
    y = y + layer.post_feedforward_layernorm(fed_forward(y))
    close(first_output(layer(x)), y)


@claim("newer-attention#streams")
def test_two_streams_by_hand(printed):
    shown = printed("examples", "streams_by_hand")
    assert shown["f reads 3 and returns"] == "6"
    assert shown["mixed"] == "[3.5, 2.5]"
    assert shown["new streams"] == "[9.5, 5.5]"


@claim("newer-attention#streams", kind="measurement")
@torch.no_grad()
def test_the_streams_of_deepseek_v4_are_mixed_by_a_matrix_whose_rows_and_columns_sum_to_1():
    from transformers import AutoConfig
    from transformers.models.deepseek_v4 import modeling_deepseek_v4

    config = AutoConfig.for_model("deepseek_v4", hidden_size=16)
    torch.manual_seed(0)
    connection = modeling_deepseek_v4.DeepseekV4HyperConnection(config)
    for weight in connection.parameters():
        nn.init.normal_(weight, std=0.1)
    streams = normal(2, 3, config.hc_mult, 16).float()
    write, mix, read = connection(streams)
    assert write.shape == (2, 3, config.hc_mult)
    assert read.shape == (2, 3, 16)
    for axis in (-1, -2):
        close(mix.sum(dim=axis), torch.ones(2, 3, config.hc_mult), 1e-3)
    assert (mix >= 0).all()
    mixed = mix.mT @ streams
    close(mixed.sum(dim=-2), streams.sum(dim=-2), 1e-2)
    lengths, before = mixed.norm(dim=-1), streams.norm(dim=-1)
    assert (lengths.amax(dim=-1) <= before.amax(dim=-1) * 1.001).all()
