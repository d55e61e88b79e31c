import torch
from torch.nn.functional import scaled_dot_product_attention

from transformer import MultiHeadAttention, initialize

torch.manual_seed(0)


def norms(attention, x, upstream, scale):
    """Of the gradient of W_Q, and the median over all queries."""
    maps = attention.query, attention.key, attention.value
    q, k, v = (attention.split(linear(x)) for linear in maps)
    heads = scaled_dot_product_attention(q, k, v, scale=scale)
    output = attention.output(heads.transpose(1, 2).flatten(2))
    inputs = attention.query.weight, q
    of_matrix, of_queries = torch.autograd.grad(output, inputs, upstream)
    return torch.stack([of_matrix.norm(), of_queries.norm(dim=-1).median()])


for nhead, d_k in (8, 64), (1, 512):
    attention = MultiHeadAttention(d_model=512, nhead=nhead).apply(initialize)
    for n in 16, 256:
        x, upstream = torch.randn(2, 1, n, 512)
        divided = norms(attention, x, upstream, scale=d_k**-0.5)
        matrix, query = norms(attention, x, upstream, scale=1.0) / divided
        print(f"d_k = {d_k}, {n} tokens, gradient of W_Q: × {matrix:.1f}")
        print(f"d_k = {d_k}, {n} tokens, median query: × {query:.1f}")
