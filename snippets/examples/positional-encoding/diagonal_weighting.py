import torch

from transformer import sinusoidal_positional_encoding

torch.manual_seed(0)
d = 512
table = sinusoidal_positional_encoding(1000, d).double()
ones = torch.ones(d, dtype=torch.float64)
random = torch.rand(d, dtype=torch.float64) + 0.5  # 0.5 .. 1.5
weightings = {
    "H = I": ones,
    "equal within each pair": random[::2].repeat_interleave(2),
    "all different, 0.5 to 1.5": random,
    "all different, N(0, 1)": torch.randn(d, dtype=torch.float64),
}
for name, diagonal in weightings.items():
    along = (table[5:] * diagonal * table[:-5]).sum(dim=-1)  # m - n = 5
    spread = along.max() - along.min()
    print(f"{name}: mean {along.mean():.2f}, spread {spread:.2f}")
