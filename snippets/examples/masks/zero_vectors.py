import torch

scores = torch.tensor([1.0, -1.0, 0.0, 0.0, 0.0])  # we, work and three pads
weights = scores.softmax(dim=-1)
print("without a mask, to the pads:", f"{weights[2:].sum():.0%}")

mask = torch.tensor([True, True, False, False, False])
weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
print("with a mask, to the pads:", f"{weights[2:].sum():.0%}")
