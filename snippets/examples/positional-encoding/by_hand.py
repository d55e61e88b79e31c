import torch

from transformer import sinusoidal_positional_encoding

torch.set_printoptions(precision=5, sci_mode=False)
first = torch.tensor([0.1, 0.2, 0.3, 0.4])
x = torch.stack([first + p / 10 for p in range(4)])  # I like to code

for base in 10000, 100:
    table = sinusoidal_positional_encoding(max_len=4, d_model=4, base=base)
    print(f"base {base}, PE =\n{table}")
    print(f"base {base}, x + PE =\n{x + table}\n")
