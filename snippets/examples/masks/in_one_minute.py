import torch
import torch.nn.functional as F

ids = torch.tensor([[1, 4, 5, 9, 0, 0]])  # <bos> 我 们 工 <pad> <pad>
causal = torch.ones(1, 1, 6, 6, dtype=torch.bool).tril()
padding = (ids != 0)[:, None, None, :]  # (1, 1, 1, 6)
mask = causal & padding  # True may attend
print("shape:", tuple(mask.shape))
print(mask[0, 0].int())

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 8, 6, 64)  # (batch, head, position, 64)
output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
key[:, :, 4:] += 100  # change both pads
value[:, :, 4:] += 100
after = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
print("the pads change the output by:", (after - output).abs().max().item())
