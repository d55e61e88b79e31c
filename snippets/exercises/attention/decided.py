import torch

from transformer import scaled_dot_product_attention

key = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
value = torch.tensor([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
for query in (0.0, 0.0), (20.0, 0.0):
    output, weights = scaled_dot_product_attention(
        torch.tensor([query]), key, value
    )
    print(f"{query}, weights:", *(f"{w:.3f}" for w in weights[0].tolist()))
    print(f"{query}, output:", *(f"{x:.3f}" for x in output[0].tolist()))
