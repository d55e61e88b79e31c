import torch

ids = torch.tensor([[1, 4, 7, 0, 0]])  # <bos> 我们 工作 <pad> <pad>
causal = torch.ones(1, 1, 5, 5, dtype=torch.bool).tril()
padding = (ids != 0)[:, None, None, :]
both = causal & padding
print("shape:", tuple(both.shape))
print(both[0, 0].int())
