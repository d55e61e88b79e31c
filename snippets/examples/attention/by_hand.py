import torch

words = ["we", "work", "?"]
query = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
key = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
value = torch.tensor([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])

scores = query @ key.T  # (3, 3): one row for each query
scaled = scores / 2**0.5
exponentials = scaled.exp()
weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
output = weights @ value  # (3, 2)

for word, row in zip(words, scores.tolist(), strict=True):
    print(f"{word}, scores:", *(f"{x:.3f}" for x in row))
for name, matrix in (
    ("scaled", scaled),
    ("exponentials", exponentials),
    ("weights", weights),
    ("output", output),
):
    print(f"work, {name}:", *(f"{x:.3f}" for x in matrix[1].tolist()))
