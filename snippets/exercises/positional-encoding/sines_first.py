import torch

from transformer import sinusoidal_positional_encoding

torch.manual_seed(0)
table = sinusoidal_positional_encoding(50, 8).double()
order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
halves = table[:, order]  # four sines, then four cosines

print(
    "inner products kept:", torch.allclose(table @ table.T, halves @ halves.T)
)

x = torch.randn(50, 8, dtype=torch.float64)
to_query, to_key = torch.randn(2, 8, 8, dtype=torch.float64)
scores = (x + table) @ to_query @ to_key.T @ (x + table).T
moved = x[:, order] + halves
permuted = moved @ to_query[order] @ to_key[order].T @ moved.T
print("scores kept, weights permuted:", torch.allclose(scores, permuted))
mixed = (x + halves) @ to_query @ to_key.T @ (x + halves).T
print("scores kept, same weights:", torch.allclose(scores, mixed))
