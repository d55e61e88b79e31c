import torch

import decode
from decode import CachedAttention, greedy_decode
from transformer import Transformer, TransformerConfig


class Reserved(CachedAttention):
    """Room for a hundred positions from the start, filled one by one."""

    room = 100

    def __init__(self, attention, x):
        super().__init__(attention, x)
        self.length = self.key.size(1)
        shape = self.key.size(0), self.room, self.key.size(2)
        self.keys, self.values = x.new_empty(shape), x.new_empty(shape)

    def append(self, x):
        new = CachedAttention(self.attention, x)
        end = self.length + x.size(1)
        if end > self.room:  # a slice would drop them without an error
            raise ValueError(f"room for {self.room} positions, got {end}")
        self.keys[:, self.length : end] = new.key
        self.values[:, self.length : end] = new.value
        self.length = end
        self.key = self.keys[:, :end]  # a view, nothing is copied
        self.value = self.values[:, :end]

    def select(self, rows):
        super().select(rows)
        self.keys, self.values = self.keys[rows], self.values[rows]


class ReservedLayer(decode.CachedLayer):
    def __init__(self, layer, memory):
        super().__init__(layer, memory)
        self.target = Reserved(layer.self_attention, memory[:, :0])


torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=100,
        tgt_vocab_size=100,
        d_model=64,
        nhead=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=256,
    )
)
src = torch.randint(3, 100, (4, 5))
before = greedy_decode(model, src, 60, 1, 2)
before_beam = decode.beam_search(model, src, 60, 1, 2)
decode.CachedLayer = ReservedLayer
after = greedy_decode(model, src, 60, 1, 2)
print("greedy, the same tokens:", torch.equal(before, after))
after_beam = decode.beam_search(model, src, 60, 1, 2)
print("beam search, the same tokens:", torch.equal(before_beam, after_beam))
print("rows copied by cat, greedy, for 60 tokens:", sum(range(60)))
