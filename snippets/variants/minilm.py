# --8<-- [start:encoder]
"""all-MiniLM-L6-v2, a published encoder of sentences, in our encoder."""

from collections.abc import Mapping

from torch import Tensor, nn

from transformer import Encoder, LayerNorm, TransformerConfig
from variants.swiglu import GELUFeedForward

NAMES = {  # parts of the names in the file, and of ours
    "encoder.layer.": "encoder.layers.",
    "attention.self.": "self_attention.",
    "attention.output.dense": "self_attention.output",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "feed_forward.linear1",
    "output.dense": "feed_forward.linear2",
    "output.LayerNorm": "norm2",
    "LayerNorm": "norm",
}


class Bert(nn.Module):
    """BERT's embeddings, added and normalized, and our Encoder.

    Shapes: ids, real (batch, n); real is False for padding -> (batch, n,
    d_model). Source: Devlin et al. 2018, section 3 and figure 2.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        d_model, width = config.d_model, config.dim_feedforward
        self.word_embeddings = nn.Embedding(config.src_vocab_size, d_model)
        self.position_embeddings = nn.Embedding(config.max_len, d_model)
        self.token_type_embeddings = nn.Embedding(2, d_model)  # which text
        self.norm = LayerNorm(d_model, config.layer_norm_eps)
        self.encoder = Encoder(config)
        for layer in self.encoder.layers:
            layer.feed_forward = GELUFeedForward(d_model, width, config.dropout)

    def forward(self, ids: Tensor, real: Tensor) -> Tensor:
        x = self.word_embeddings(ids) + self.token_type_embeddings.weight[0]
        x = x + self.position_embeddings.weight[: ids.size(1)]
        return self.encoder(self.norm(x), real[:, None, None])


def load_bert(model: Bert, state: Mapping[str, Tensor]) -> None:
    """Copy a published state_dict; its pooler is not needed."""
    ours = {}
    for name, value in state.items():
        name = name.removeprefix("embeddings.")
        for old, new in NAMES.items():
            name = name.replace(old, new)
        ours[name] = value
    ours = {name: ours[name] for name in model.state_dict()}
    model.load_state_dict(ours)


# --8<-- [end:encoder]
