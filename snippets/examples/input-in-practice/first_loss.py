import math

import torch
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
vocab_size, d_model, positions = 1000, 512, 500
hidden = torch.randn(positions, d_model)  # entries as after normalization
answers = torch.randint(vocab_size, (positions,))


def first_loss(std, d=d_model):
    table = torch.randn(vocab_size, d) * std
    logits = hidden[:, :d] @ table.T  # one score for each token
    return cross_entropy(logits, answers).item()


print(f"a blind guess: {math.log(vocab_size):.1f}")
print(f"rows from N(0, 1/d): {first_loss(d_model**-0.5):.1f}")
print(f"rows from N(0, 1): {first_loss(1.0):.0f}")
print(f"rows from N(0, 1), d = 64: {first_loss(1.0, d=64):.0f}")
