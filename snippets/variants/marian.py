# --8<-- [start:imports]
"""The architecture of the OPUS-MT translators, from the parts of our file.

They were trained with Marian (Junczys-Dowmunt et al. 2018) and published for
MarianMTModel of the library transformers.
"""

import re

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer import FeedForward, Transformer, TransformerConfig


# --8<-- [end:imports]
# --8<-- [start:model]
class SwishFeedForward(FeedForward):
    """swish(x W1 + b1) W2 + b2, where swish(z) = z * sigmoid(z)."""

    def forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(F.silu(self.linear1(x))))


class Marian(Transformer):
    """Sines before cosines, swish, one embedding table, a bias on logits."""

    bias: Tensor  # (tgt_vocab_size,)

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        table = self.position.table  # (max_len, d_model)
        self.position.table = torch.cat([table[:, ::2], table[:, 1::2]], dim=1)
        sizes = config.d_model, config.dim_feedforward, config.dropout
        for layer in [*self.encoder.layers, *self.decoder.layers]:
            layer.feed_forward = SwishFeedForward(*sizes)
        self.src_embedding = self.tgt_embedding
        self.register_buffer("bias", torch.zeros(config.tgt_vocab_size))

    def logits(self, x: Tensor) -> Tensor:
        return super().logits(x) + self.bias


# --8<-- [end:model]
# --8<-- [start:load]
RENAMED = {  # regular expressions: parts of the published names, ours
    r"^model\.": "",
    r"self_attn_layer_norm": "norm1",
    r"encoder_attn_layer_norm": "norm2",
    r"^(encoder.*)final_layer_norm": r"\1norm2",
    r"^(decoder.*)final_layer_norm": r"\1norm3",
    r"self_attn": "self_attention",
    r"encoder_attn": "cross_attention",
    r"q_proj": "query",
    r"k_proj": "key",
    r"v_proj": "value",
    r"out_proj": "output",
    r"fc(\d)": r"feed_forward.linear\1",
}


def our_name(name: str) -> str:
    """Our name of a weight of a layer."""
    for old, new in RENAMED.items():
        name = re.sub(old, new, name)
    return name


def load_marian(sizes: dict, published: dict[str, Tensor]) -> Marian:
    """A Marian from config.json and the state dict, in evaluation mode.

    There, <pad> also starts a translation. Our masks hide every <pad>, so
    <bos> gets an id of its own, the last: with the vector of <pad>, and with
    the bias -inf, so that no translation contains it.
    Raises ValueError for an activation function other than swish, and for
    embeddings that aren't multiplied by the root of d_model.
    """
    expected = {"activation_function": "swish", "scale_embedding": True}
    for name, value in expected.items():
        if sizes[name] != value:
            raise ValueError(f"{name} must be {value}, got {sizes[name]}")
    vocab_size, pad_id = sizes["vocab_size"] + 1, sizes["pad_token_id"]
    config = TransformerConfig(
        src_vocab_size=vocab_size,
        tgt_vocab_size=vocab_size,
        d_model=sizes["d_model"],
        nhead=sizes["encoder_attention_heads"],
        num_encoder_layers=sizes["encoder_layers"],
        num_decoder_layers=sizes["decoder_layers"],
        dim_feedforward=sizes["encoder_ffn_dim"],
        max_len=sizes["max_position_embeddings"],
        pad_id=pad_id,
        tie_embeddings=True,
    )
    table = published["model.shared.weight"]  # (V, d_model)
    table = torch.cat([table, table[pad_id, None]])  # (V + 1, d_model)
    bias = F.pad(published["final_logits_bias"][0], (0, 1), value=-torch.inf)
    weights = {"bias": bias, "output.weight": table}
    for side in "src", "tgt":
        weights[f"{side}_embedding.embedding.weight"] = table
    for name, weight in published.items():
        if ".layers." in name:
            weights[our_name(name)] = weight
    model = Marian(config)
    model.load_state_dict(weights)
    return model.eval()


# --8<-- [end:load]
