import torch

words = ["why", "do", "we", "work", "?"]
rows = torch.tensor(
    [[-3, 2, 4, -2], [0, 0, 0, 0], [-3, -4, 3, 2], [2, 3, -4, 0], [0, 0, 0, 0]]
)
p = torch.arange(5)
hands = [p.sin(), p.cos(), (p / 100).sin(), (p / 100).cos()]
positions = torch.stack(hands, dim=1)  # (position, d_model)

x = 2 * rows + positions
for word, row in zip(words, x.tolist(), strict=True):
    print(*(f"{number:6.2f}" for number in row), word)
