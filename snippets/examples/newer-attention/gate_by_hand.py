import torch

head = torch.tensor([4.0, 8.0])  # what attention returns
logits = torch.tensor([3.0, 1 / 9]).log()  # computed from the token
gate = logits.sigmoid()
print(f"gate: {gate[0]:.2f} and {gate[1]:.2f}")
print(f"gated: {gate[0] * head[0]:.2f} and {gate[1] * head[1]:.2f}")
