import torch

from transformer import MultiHeadAttention, causal_mask

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=16, nhead=4)
x = torch.randn(2, 5, 16)
changed = x.clone()
changed[:, -1] += 1  # the last token

for name, mask in {
    "right": causal_mask(5),
    "inverted": ~causal_mask(5),
}.items():
    y, weights = attention(x, x, x, mask, need_weights=True)
    z, _ = attention(changed, changed, changed, mask)
    print(f"{name}, shape: {tuple(y.shape)}")
    print(f"{name}, finite: {bool(y.isfinite().all())}")
    for row, i in ("first", 0), ("last", 4):
        seen = weights[0, 0, i].detach().numpy().round(2)
        print(f"{name}, weights of the {row} token: {seen}")
    same = torch.allclose(y[:, :-1], z[:, :-1])
    print(f"{name}, outputs before the change stay: {same}")
