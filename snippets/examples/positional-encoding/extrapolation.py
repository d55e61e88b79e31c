import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import sinusoidal_positional_encoding

torch.set_num_threads(1)
torch.manual_seed(0)
vocab_size, d = 10, 32
table = sinusoidal_positional_encoding(100, d)
model = nn.ParameterDict(
    {
        "token": torch.randn(vocab_size, d),
        "query": torch.randn(d, d) / d**0.5,
        "key": torch.randn(d, d) / d**0.5,
        "value": torch.randn(d, d) / d**0.5,
        "answer": torch.zeros(d, vocab_size),
    }
)


def predict(ids, keys=100):  # (batch, n) -> (batch, n, vocab_size)
    x = model["token"][ids] + table[: ids.size(1)]
    scores = (x @ model["query"]) @ (x @ model["key"]).mT / d**0.5
    scores[..., keys:] = float("-inf")  # attend to the first keys only
    return scores.softmax(dim=-1) @ (x @ model["value"]) @ model["answer"]


optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(600):
    ids = torch.randint(vocab_size, (64, int(torch.randint(5, 21, ()))))
    guess = predict(ids)[:, 1:]
    loss = cross_entropy(guess.flatten(0, 1), ids[:, :-1].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"right by guessing: {1 / vocab_size:.1f}")
for n in 10, 20, 30, 40, 100:
    ids = torch.randint(vocab_size, (200, n))
    right = (predict(ids)[:, 1:].argmax(dim=-1) == ids[:, :-1]).float()
    print(f"right at length {n}: {right.mean():.1f}")
    if n == 30:
        print(f"of 30, positions 20 to 29: {right[:, 19:].mean():.1f}")
print(f"of 100, positions 1 to 19: {right[:, :19].mean():.1f}")
print(f"of 100, positions 80 to 99: {right[:, 79:].mean():.1f}")
right = (predict(ids, keys=20)[:, 1:].argmax(dim=-1) == ids[:, :-1]).float()
print(f"positions 1 to 19, only keys 0 to 19: {right[:, :19].mean():.1f}")
