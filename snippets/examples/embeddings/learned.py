from itertools import pairwise, product

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, cross_entropy

from transformer import TokenEmbedding

torch.manual_seed(0)
vocab = ["why", "do", "we", "you", "they", "work", "walk", "talk", "?"]
pairs = []  # (word, next word) of "why do we work ?", "why do you walk ?" ...
for who, what in product(vocab[2:5], vocab[5:8]):
    pairs += pairwise(["why", "do", who, what, "?"])
ids = torch.tensor([[vocab.index(word) for word in pair] for pair in pairs])
now, after = ids[:, :1], ids[:, 1]

embedding, guess = TokenEmbedding(9, 16), nn.Linear(16, 9)
weights = [*embedding.parameters(), *guess.parameters()]
optimizer = torch.optim.Adam(weights, lr=0.03)


def show(when):
    we, work, walk = embedding.embedding.weight[[2, 5, 6]]
    print(f"work and walk {when}: {cosine_similarity(work, walk, dim=0):.1f}")
    print(f"work and we {when}: {cosine_similarity(work, we, dim=0):.1f}")


show("before")
for _ in range(300):
    loss = cross_entropy(guess(embedding(now))[:, 0], after)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
show("after")
