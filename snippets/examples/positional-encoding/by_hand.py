import torch

from transformer import sinusoidal_positional_encoding

first = torch.tensor([0.1, 0.2, 0.3, 0.4])
x = torch.stack([first + p / 10 for p in range(4)])  # I like to code
table = sinusoidal_positional_encoding(max_len=4, d_model=4)

torch.set_printoptions(precision=5, sci_mode=False)
print(f"x + PE =\n{x + table}")
