import torch

from transformer import causal_mask, scaled_dot_product_attention


def wrong_merge(heads):
    batch, nhead, length, head_dim = heads.shape
    return heads.view(batch, length, nhead * head_dim)


def right_merge(heads):
    return heads.transpose(1, 2).flatten(2)  # (batch, length, d_model)


torch.manual_seed(0)
one = torch.randn(1, 4, 8, 16)  # (batch, head, position, head_dim)
other = one.clone()
other[:, :, 7] = torch.randn(1, 4, 16)  # another last token
for name, merge in ("wrong", wrong_merge), ("right", right_merge):
    before, after = (
        merge(scaled_dot_product_attention(x, x, x, causal_mask(8))[0])
        for x in (one, other)
    )
    changed = (before != after).any(dim=-1)[0].nonzero().flatten()
    print(f"{name}, shape: {tuple(before.shape)}")
    print(f"{name}, positions that change: {changed.tolist()}")
try:
    one.transpose(1, 2).view(1, 8, 64)
except RuntimeError as error:
    print(f"transposed, then view: {str(error)[:33]} …")
