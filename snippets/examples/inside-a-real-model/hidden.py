import torch

weights = torch.tensor([0.8, 0.15, 0.05])
values = torch.tensor([0.0, 2.0, -1.0])
left = weights[1:] / weights[1:].sum()  # the first token is hidden
print(f"output: {weights @ values:.2f}")
print(f"weights without the first: {[round(w, 2) for w in left.tolist()]}")
print(f"output without the first: {left @ values[1:]:.2f}")
