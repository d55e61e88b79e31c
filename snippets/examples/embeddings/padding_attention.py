import torch

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
