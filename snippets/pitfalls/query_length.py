import torch
import torch.nn.functional as F


def wrong_attention(query, key, value, nhead):
    batch, n, d = query.shape
    q, k, v = (
        x.view(batch, n, nhead, d // nhead).transpose(1, 2)
        for x in (query, key, value)
    )  # (batch, head, n, head_dim), all three of them
    y = F.scaled_dot_product_attention(q, k, v)
    return y.transpose(1, 2).flatten(2)


def right_attention(query, key, value, nhead):
    q, k, v = (
        x.unflatten(-1, (nhead, -1)).transpose(1, 2)
        for x in (query, key, value)
    )  # (batch, head, n, head_dim) and twice (batch, head, m, head_dim)
    y = F.scaled_dot_product_attention(q, k, v)
    return y.transpose(1, 2).flatten(2)


torch.manual_seed(0)
target = torch.randn(2, 6, 32)  # (batch, n, d_model)
for m in 6, 9:
    memory = torch.randn(2, m, 32)  # (batch, m, d_model)
    right = right_attention(target, memory, memory, 4)
    print(f"right, {m} keys for 6 queries: {tuple(right.shape)}")
    try:
        wrong = wrong_attention(target, memory, memory, 4)
        print(f"wrong, {m} keys for 6 queries: {tuple(wrong.shape)}")
        print(f"wrong, {m} keys, equal: {torch.equal(wrong, right)}")
    except RuntimeError as error:
        print(f"wrong, {m} keys for 6 queries: {error}")
