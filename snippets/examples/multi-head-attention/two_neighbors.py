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


def train(nhead):
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size, d_model)
    attention = MultiHeadAttention(d_model=d_model, nhead=nhead)
    read = nn.Linear(d_model, 2 * vocab_size)  # token before, token after
    layers = nn.ModuleList([embedding, attention, read])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)

    def predict(ids):
        x = embedding(ids) + table
        output, weights = attention(x, x, x, need_weights=True)
        guess = read(output)[:, 1:-1]  # those with two neighbors
        return guess.unflatten(-1, (2, vocab_size)), weights.detach()

    for _ in range(400):
        ids = torch.randint(vocab_size, (64, n))
        answers = torch.stack([ids[:, :-2], ids[:, 2:]], dim=-1)
        guess, _ = predict(ids)
        loss = cross_entropy(guess.flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = (guess.argmax(dim=-1) == answers).float().mean().item()
    return right, predict(torch.tensor([[4, 5, 6, 7, 8]]))[1][0]


trained = {nhead: train(nhead) for nhead in (1, 2)}
for nhead, (right, _) in trained.items():
    print(f"neighbors named right, nhead = {nhead}: {right:.1f}")
