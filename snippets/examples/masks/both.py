import torch

from transformer import MultiHeadAttention, causal_mask, padding_mask

ids = torch.tensor([[1, 4, 5, 9, 0, 0]])  # <bos> 我 们 工 <pad> <pad>
causal, padding = causal_mask(6), padding_mask(ids)
both = causal & padding
print("causal:", tuple(causal.shape))
print("padding:", tuple(padding.shape))
print("both:", tuple(both.shape))

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=16, nhead=4)
x = torch.randn(1, 6, 16)
change = attention(x, x, x, both)[0] - attention(x, x, x, causal)[0]
print("pads on the right, both against causal alone")
print("at real tokens:", change[0, :4].abs().max().item())
print("at pads, differs:", bool(change[0, 4:].abs().max() > 0.01))
