import torch

from transformer import padding_mask, scaled_dot_product_attention

torch.manual_seed(0)
ids = torch.tensor([[4, 5, 6], [6, 7, 0], [8, 0, 0]])  # 3 sentences, 3 tokens
query, key = torch.randn(2, 3, 2, 3, 4)  # (batch, head, position, 4)
pads = ids == 0
for name, mask in {
    "right": padding_mask(ids),  # (b, 1, 1, n)
    "wrong": ids != 0,  # (b, n)
}.items():
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    share = (weights * pads[:, None, None]).sum(dim=-1).mean(dim=(1, 2))
    print(f"{name}, share of the pads: {share.numpy().round(2)}")
