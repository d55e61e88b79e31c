# --8<-- [start:imports]
from torch import Tensor, nn

from transformer import (
    Encoder,
    PositionalEncoding,
    TokenEmbedding,
    TransformerConfig,
    causal_mask,
    initialize,
)


# --8<-- [end:imports]
# --8<-- [start:model]
class DecoderOnly(nn.Module):
    """A model of one sequence: from each token and those before it, the next.

    Its layers are those of Encoder, num_encoder_layers of them, under a
    causal mask; vocabulary and output are the config's of the target.
    Shapes: ids (batch, n), padded on the right -> (batch, n, vocab_size).
    Source: Liu et al. 2018, section 4.2.3; Radford et al. 2018, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        d, vocab_size = config.d_model, config.tgt_vocab_size
        self.config = config
        self.embedding = TokenEmbedding(vocab_size, d, config.pad_id)
        self.position = PositionalEncoding(d, config.max_len, config.dropout)
        self.stack = Encoder(config)
        self.output = nn.Linear(d, vocab_size, bias=False)
        self.apply(initialize)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.position(self.embedding(ids))  # (batch, n, d_model)
        x = self.stack(x, causal_mask(ids.size(1), ids.device))
        return self.output(x)  # (batch, n, vocab_size)


# --8<-- [end:model]
