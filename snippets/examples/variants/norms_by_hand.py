import torch

x = torch.tensor([1.0, 3.0, 3.0, 9.0])

mean_square = x.square().mean()  # (1 + 9 + 9 + 81) / 4
print(f"mean of the squares: {mean_square:.0f}")
print(f"root of it: {mean_square.sqrt():.0f}")
print("RMSNorm:", x / mean_square.sqrt())

centered = x - x.mean()  # the step that RMSNorm leaves out
print("minus the mean:", centered)
print("LayerNorm:", centered / centered.square().mean().sqrt())
