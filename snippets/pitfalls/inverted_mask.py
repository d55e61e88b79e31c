import torch
import torch.nn.functional as F

hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)  # True: in the future


def wrong_attention(query, key, value):  # as nn.MultiheadAttention wants it
    return F.scaled_dot_product_attention(query, key, value, hidden)


def right_attention(query, key, value):  # as this function wants it
    return F.scaled_dot_product_attention(query, key, value, ~hidden)


torch.manual_seed(0)
x = torch.randn(2, 5, 16)  # (batch, position, d_k)
changed = torch.cat([x[:, :-1], -x[:, -1:]], dim=1)  # another last token
for attend in wrong_attention, right_attention:
    name = attend.__name__.split("_")[0]
    y = attend(x, x, x)
    same = torch.equal(y[:, :-1], attend(changed, changed, changed)[:, :-1])
    weights = attend(x, x, torch.eye(5).expand(2, 5, 5))  # its own values
    print(f"{name}, shape as it should be: {y.shape == x.shape}")
    print(f"{name}, all finite: {bool(y.isfinite().all())}")
    print(f"{name}, position 2 reads: {weights[0, 2].nonzero()[:, 0].tolist()}")
    print(f"{name}, the past stays when the future changes: {same}")
