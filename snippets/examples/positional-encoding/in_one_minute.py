import torch

from transformer import PositionalEncoding, sinusoidal_positional_encoding

table = sinusoidal_positional_encoding(max_len=5, d_model=8)
print("shape of the table:", tuple(table.shape))
for p, row in enumerate(table.tolist()):
    print(f"PE({p}):", *(f"{number:6.3f}" for number in row))

add_positions = PositionalEncoding(d_model=8, max_len=5, dropout=0.0)
x = torch.zeros(1, 5, 8)  # token vectors: (batch, position, d_model)
print("shape of the sum:", tuple(add_positions(x).shape))
