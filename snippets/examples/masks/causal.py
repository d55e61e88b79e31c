import torch

from transformer import causal_mask, scaled_dot_product_attention

before = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
after = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, -2.0]])  # another last one


def changed(mask):
    one, _ = scaled_dot_product_attention(before, before, before, mask)
    other, _ = scaled_dot_product_attention(after, after, after, mask)
    return (one != other).any(dim=-1).tolist()


print("causal mask:", changed(causal_mask(3)[0, 0]))
print("no mask:", changed(None))
