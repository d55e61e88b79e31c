import torch

from pencil_words import table, words

p = torch.arange(5)
hands = [p.sin(), p.cos(), (p / 100).sin(), (p / 100).cos()]
positions = torch.stack(hands, dim=1)  # (position, d_model)

x = 2 * table + positions
for word, row in zip(words, x.tolist(), strict=True):
    print(*(f"{number:6.2f}" for number in row), word)
