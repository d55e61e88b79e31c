import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import (
    Decoder,
    PositionalEncoding,
    TokenEmbedding,
    TransformerConfig,
    causal_mask,
)

config = TransformerConfig(
    src_vocab_size=8,
    tgt_vocab_size=8,
    d_model=32,
    nhead=4,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
)
memory = torch.zeros(32, 1, 32)  # a source that says nothing
for name, mask in ("with the mask", causal_mask(7)), ("without it", None):
    torch.manual_seed(0)
    embedding, decoder = TokenEmbedding(8, 32), Decoder(config)
    position, output = PositionalEncoding(32, dropout=0.0), nn.Linear(32, 8)
    modules = nn.ModuleList([embedding, decoder, output])
    optimizer = torch.optim.Adam(modules.parameters(), lr=1e-2)
    seen = []
    for _ in range(150):
        ids = torch.randint(8, (32, 8))  # dice: nothing to learn
        x = decoder(position(embedding(ids[:, :-1])), memory, mask)
        logits = output(x).transpose(1, 2)  # (batch, vocabulary, position)
        loss = cross_entropy(logits, ids[:, 1:], reduction="none").mean(dim=0)
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        seen.append(loss.detach())
    last = torch.stack(seen[-50:]).mean(dim=0)
    print(f"{name}, loss: {last.mean():.1f}")
    print(f"{name}, by position:", *[f"{x:.1f}" for x in last])
print(f"a blind guess: {math.log(8):.1f}")
print(f"a blind guess at one position in seven: {math.log(8) / 7:.1f}")
