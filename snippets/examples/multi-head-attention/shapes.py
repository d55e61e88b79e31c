import torch

from transformer import MultiHeadAttention

attention = MultiHeadAttention(d_model=512, nhead=8)
x = torch.randn(2, 5, 512)  # two sentences of five tokens
q = attention.query(x)
print("after the linear map:", tuple(q.shape))
q = q.unflatten(-1, (8, 64))
print("features cut into heads:", tuple(q.shape))
q = q.transpose(1, 2)
print("heads before positions:", tuple(q.shape))

output, weights = attention(x, x, x, need_weights=True)
print("weights:", tuple(weights.shape))
heads = weights @ attention.split(attention.value(x))
print("averages of values:", tuple(heads.shape))
print("positions before heads:", tuple(heads.transpose(1, 2).shape))
print("heads side by side:", tuple(heads.transpose(1, 2).flatten(2).shape))
print("output:", tuple(output.shape))
