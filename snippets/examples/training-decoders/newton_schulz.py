import torch

from variants.muon import orthogonalize

torch.manual_seed(0)
momentum = torch.randn(64, 32) @ torch.randn(32, 32)
u, s, vt = torch.linalg.svd(momentum, full_matrices=False)
values = torch.linalg.svdvals(orthogonalize(momentum))
print(f"before, largest / smallest: {s[0] / s[-1]:.0f}")
print(f"after, smallest: {values[-1]:.2f}")
print(f"after, largest: {values[0]:.2f}")
inside = u.mT @ orthogonalize(momentum) @ vt.mT
rest = inside - inside.diagonal().diag()
print("same directions:", bool(rest.abs().max() < 1e-4))
