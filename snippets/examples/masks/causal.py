import torch

from transformer import scaled_dot_product_attention

before = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
after = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, -2.0]])  # another last one


def changed(mask):
    one, _ = scaled_dot_product_attention(before, before, before, mask)
    other, _ = scaled_dot_product_attention(after, after, after, mask)
    return (one != other).any(dim=-1).tolist()


causal = torch.ones(3, 3, dtype=torch.bool).tril()
print("causal mask:", changed(causal))
print("no mask:", changed(None))
