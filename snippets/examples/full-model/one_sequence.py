import math

import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

config = TransformerConfig(
    src_vocab_size=21,
    tgt_vocab_size=21,
    d_model=32,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
)
for name in "one sequence", "a source of its own":
    torch.manual_seed(0)
    model = Transformer(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    seen = []
    for _ in range(250):
        ids = torch.randint(1, 21, (32, 13))  # 20 tokens, at random
        given, answers = ids[:, :-1], ids[:, 1:]
        src = given if name == "one sequence" else torch.randint(1, 21, (32, 5))
        logits = model(src, given).transpose(1, 2)
        loss = cross_entropy(logits, answers, reduction="none").mean(dim=0)
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
        seen.append(loss.detach())
    last = torch.stack(seen[-20:]).mean(dim=0)
    print(f"{name}, loss: {last.mean():.1f}")
    print(f"{name}, by position:", *[f"{x:.0f}" for x in last])
print(f"a blind guess: {math.log(20):.1f}")
print(f"blind at one place in twelve: {math.log(20) / 12:.2f}")
