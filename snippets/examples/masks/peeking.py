import torch
import torch.nn.functional as F
from torch import nn

from transformer import (
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    causal_mask,
)

causal = causal_mask(7)


def train(name, mask):
    torch.manual_seed(0)
    embed = TokenEmbedding(vocab_size=10, d_model=32)
    position = PositionalEncoding(d_model=32, dropout=0.0)
    attention = MultiHeadAttention(d_model=32, nhead=2)
    output = nn.Linear(32, 10)
    parts = nn.ModuleList([embed, attention, output])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)

    def run(count, mask):  # random tokens cannot be predicted
        ids = torch.randint(10, (count, 8))
        x = position(embed(ids[:, :-1]))
        return output(attention(x, x, x, mask)[0]), ids[:, 1:]

    for _ in range(250):
        logits, following = run(32, mask)
        loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for situation, seen in (
        ("in training", mask),
        ("at inference", mask & causal),
    ):
        logits, following = run(1000, seen)
        right = (logits.argmax(dim=-1) == following).float().mean()
        print(f"{name}, {situation}: {right:.1f}")


print(f"guessing: {1 / 10:.1f}")
train("causal mask", causal)
train("no mask", torch.ones_like(causal))
train("inverted mask", ~causal)
