import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import (
    MultiHeadAttention,
    TokenEmbedding,
    sinusoidal_positional_encoding,
)

torch.set_num_threads(1)
vocab_size, d_model, n = 9, 32, 5
table = sinusoidal_positional_encoding(n, d_model)


def make_reader(kind):
    answers = 2 * vocab_size  # token before, token after
    if kind == "linear map":
        return nn.Linear(d_model, answers)
    hidden = nn.Linear(d_model, 4 * d_model)
    return nn.Sequential(hidden, nn.ReLU(), nn.Linear(4 * d_model, answers))


def train(kind, nhead, steps=400):
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size, d_model)
    attention = MultiHeadAttention(d_model=d_model, nhead=nhead)
    read = make_reader(kind)
    layers = nn.ModuleList([embedding, attention, read])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)

    def predict(ids):
        x = embedding(ids) + table
        output, weights = attention(x, x, x, need_weights=True)
        guess = read(output)[:, 1:-1]  # those with two neighbors
        return guess.unflatten(-1, (2, vocab_size)), weights.detach()

    for step in range(steps):
        ids = torch.randint(vocab_size, (64, n))
        answers = torch.stack([ids[:, :-2], ids[:, 2:]], dim=-1)
        guess, _ = predict(ids)
        loss = cross_entropy(guess.flatten(0, 2), answers.flatten())
        rate = 0.01 * min(1, 2 - 2 * step / steps)  # falls in the second half
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids = torch.randint(vocab_size, (2000, n))
    answers = torch.stack([ids[:, :-2], ids[:, 2:]], dim=-1)
    right = (predict(ids)[0].argmax(dim=-1) == answers).float().mean().item()
    return right, predict(torch.tensor([[4, 5, 6, 7, 8]]))[1][0]


trained = {}
print(f"guessing, right: {1 / vocab_size:.0%}")
for kind in "linear map", "feed-forward":
    for nhead in 1, 2:
        trained[kind, nhead] = right, _ = train(kind, nhead)
        print(f"{kind}, nhead = {nhead}, right: {right:.0%}")
