import torch
from torch import nn

from transformer import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)

ids = torch.tensor([[0, 6, 7]])  # <pad> we work: the padding on the left
mask = (causal_mask(3) & padding_mask(ids))[0, 0]
print(mask.int())

torch.manual_seed(0)
x = torch.randn(1, 3, 4)
scores = x @ x.mT / 2
for fill in -1e9, float("-inf"):
    weights = scores.masked_fill(~mask, fill).softmax(dim=-1)
    print(f"{fill}: {weights[0, 0].numpy().round(2)}")
_, weights = scaled_dot_product_attention(x, x, x, mask)
print("ours:", weights[0, 0].numpy())

theirs = nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)
for training in True, False:
    theirs.train(training)
    for need_weights in True, False:
        with torch.set_grad_enabled(training):
            y, _ = theirs(x, x, x, attn_mask=~mask, need_weights=need_weights)
        mode = f"training={training}, need_weights={need_weights}"
        print(f"torch.nn, {mode}: {y[0, 0].tolist()}")
