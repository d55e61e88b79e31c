import torch

from transformer import PositionalEncoding

query = torch.tensor([1.0, 0.0])
keys = torch.tensor(
    [
        [2.0, 5.0],  # we
        [1.0, 3.0],  # work
        [0.0, 0.0],  # <pad>
        [0.0, 0.0],  # <pad>
        [0.0, 0.0],  # <pad>
    ]
)
scores = keys @ query
print("scores:", scores.tolist())
weights = scores.softmax(dim=0)
print("weights:", [round(weight, 3) for weight in weights.tolist()])
print(f"share of the padding: {weights[2:].sum():.0%}")

padding = torch.zeros(1, 5, 512)
placed = PositionalEncoding(512, dropout=0.0)(padding)
print("lengths after the position is added:", placed[0].norm(dim=-1).tolist())
