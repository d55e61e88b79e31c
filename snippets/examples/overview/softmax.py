import torch

scores = torch.tensor([3.6, -0.6, 0.2, -1.5, -1.4])  # why do we work ?
exponentials = scores.exp()
weights = exponentials / exponentials.sum()
print("weights:", *(f"{weight:.0%}" for weight in weights.tolist()))
print("equal to softmax:", weights.allclose(scores.softmax(dim=0)))
