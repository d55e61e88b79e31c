import torch
import torch.nn.functional as F
from torch import nn

nhead, num_kv_heads, head_dim = 4, 2, 2
query = nn.Linear(8, nhead * head_dim)
key = nn.Linear(8, num_kv_heads * head_dim)  # narrower
value = nn.Linear(8, num_kv_heads * head_dim)  # narrower
output = nn.Linear(nhead * head_dim, 8)

x = torch.randn(1, 3, 8)  # three tokens
q = query(x).unflatten(-1, (-1, head_dim)).transpose(1, 2)
k = key(x).unflatten(-1, (-1, head_dim)).transpose(1, 2)
v = value(x).unflatten(-1, (-1, head_dim)).transpose(1, 2)
print("queries:", tuple(q.shape))
print("keys in the cache:", tuple(k.shape))
print("numbers in the cache:", k.numel() + v.numel())

k, v = (kv.repeat_interleave(nhead // num_kv_heads, dim=1) for kv in (k, v))
print("keys for the product:", tuple(k.shape))
heads = F.scaled_dot_product_attention(q, k, v)
y = output(heads.transpose(1, 2).flatten(2))
print("output:", tuple(y.shape))
