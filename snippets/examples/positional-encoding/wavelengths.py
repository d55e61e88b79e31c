import math

from transformer import sinusoidal_positional_encoding

d = 512
for base in 10000, 100:
    for i in 0, d // 4, d // 2 - 1:
        wavelength = 2 * math.pi * base ** (2 * i / d)
        print(f"base {base}, pair {i}: {wavelength:.2f}")
print("the limit, 10000 times 2π:", round(10000 * 2 * math.pi, 2))

table = sinusoidal_positional_encoding(100, d)
change = table.max(dim=0).values - table.min(dim=0).values  # (d,)
still = (change < 1e-3).sum().item()
print("columns that move less than 0.001 in 100 positions:", still)
