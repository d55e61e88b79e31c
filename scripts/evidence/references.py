"""What the book's code is compared with: torch.nn with our weights, and the paper's formula."""

import math
import warnings
from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor, nn

from transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    Transformer,
    TransformerConfig,
    causal_mask,
)

# Parts of our parameters' names, and what torch.nn calls them.
TORCH_NAMES = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
TORCH_NAMES |= {f"{part}.": "in_proj_" for part in ("query", "key", "value")}
TORCH_NAMES |= {"output.": "out_proj.", "feed_forward.": ""}


def with_torch_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our parameters by the names of torch.nn, where query, key and value are one matrix."""
    state: dict[str, Tensor] = {}
    for name, value in tensors.items():
        for our_name, torch_name in TORCH_NAMES.items():
            name = name.replace(our_name, torch_name)
        state[name] = torch.cat([state[name], value]) if name in state else value
    return state


def torch_modules(config: TransformerConfig, dtype: torch.dtype) -> dict[type, nn.Module]:
    """What torch.nn has for each of our classes, as the page's table maps them."""
    options = {"batch_first": True, "norm_first": config.norm_first, "dtype": dtype}
    sizes = config.d_model, config.nhead, config.dim_feedforward, 0.0
    encoder_layer = nn.TransformerEncoderLayer(*sizes, **options)
    decoder_layer = nn.TransformerDecoderLayer(*sizes, **options)
    norms = [
        nn.LayerNorm(config.d_model, dtype=dtype) if config.norm_first else None for _ in range(2)
    ]
    return {
        EncoderLayer: encoder_layer,
        DecoderLayer: decoder_layer,
        Encoder: nn.TransformerEncoder(
            encoder_layer, config.num_encoder_layers, norms[0], enable_nested_tensor=False
        ),
        Decoder: nn.TransformerDecoder(decoder_layer, config.num_decoder_layers, norms[1]),
    }


class TorchTransformer(nn.Module):
    """nn.Transformer with copies of our embeddings and our output layer."""

    def __init__(self, ours: Transformer, dtype: torch.dtype):
        super().__init__()
        config = ours.config
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # norm_first has no fast path
            model = nn.Transformer(
                config.d_model,
                config.nhead,
                config.num_encoder_layers,
                config.num_decoder_layers,
                config.dim_feedforward,
                dropout=config.dropout,
                layer_norm_eps=config.layer_norm_eps,
                batch_first=True,
                norm_first=config.norm_first,
            ).to(dtype)
        if not config.norm_first:  # the paper has no final norms
            model.encoder.norm = model.decoder.norm = None
        self.encoder, self.decoder = model.encoder, model.decoder
        self.src_embedding = deepcopy(ours.src_embedding)
        self.tgt_embedding = deepcopy(ours.tgt_embedding)
        self.position = deepcopy(ours.position)
        self.out_proj = deepcopy(ours.output)
        self.load_state_dict(with_torch_names(ours.state_dict()))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory = self.encoder(self.position(self.src_embedding(src)), src_key_padding_mask=src == 0)
        y = self.decoder(
            self.position(self.tgt_embedding(tgt)),
            memory,
            tgt_mask=~causal_mask(tgt.size(1))[0, 0],
            tgt_key_padding_mask=tgt == 0,
            memory_key_padding_mask=src == 0,
        )
        return self.out_proj(y)


def sinusoid(position: int, column: int, d: int, base: float = 10000.0) -> float:
    """The paper's formula for one cell of the table, with the math module alone."""
    angle = position / base ** (2 * (column // 2) / d)
    return math.cos(angle) if column % 2 else math.sin(angle)


def exact_rows(positions: Tensor, d: int, base: float = 10000.0) -> Tensor:
    """Rows of the table in float64."""
    even = torch.arange(0, d, 2, dtype=torch.float64)
    angle = positions.double()[:, None] / base ** (even / d)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def shift_matrix(k: int, d: int) -> Tensor:
    """M_k, block by block as the page writes it."""
    blocks = []
    for i in range(d // 2):
        angle = k / 10000 ** (2 * i / d)
        sin, cos = math.sin(angle), math.cos(angle)
        blocks.append(torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64))
    return torch.block_diag(*blocks)
