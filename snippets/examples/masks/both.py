import torch

from transformer import causal_mask, padding_mask

ids = torch.tensor([[1, 4, 7, 0, 0]])  # <bos> 我们 工作 <pad> <pad>
causal, padding = causal_mask(5), padding_mask(ids)
both = causal & padding
print("causal:", tuple(causal.shape))
print("padding:", tuple(padding.shape))
print("both:", tuple(both.shape))
print(both[0, 0].int())
