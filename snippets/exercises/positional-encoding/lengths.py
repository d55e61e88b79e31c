import torch

from transformer import sinusoidal_positional_encoding

torch.manual_seed(0)
d = 64
wide = torch.randn(5000, d)  # N(0, 1)
narrow = wide / d**0.5  # N(0, 1/d)
for name, vectors in {
    "N(0, 1/d)": narrow,
    "N(0, 1/d) times √d": narrow * d**0.5,
    "N(0, 1)": wide,
    "N(0, 1) times √d": wide * d**0.5,
    "positions": sinusoidal_positional_encoding(5000, d),
}.items():
    print(f"{name}: {vectors.norm(dim=1).mean():.1f}")
