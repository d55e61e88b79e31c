import torch

from transformer import scaled_dot_product_attention

exponentials = torch.tensor(
    [
        [2.0, 5.0, 3.0],
        [3.0, 3.0, 4.0],
        [1.0, 6.0, 3.0],
    ]
)
scores = exponentials.log()
mask = torch.ones(3, 3, dtype=torch.bool).tril()
print("mask of 我们:", mask[1].int().tolist())

# the lines of scaled_dot_product_attention
lowest = torch.finfo(scores.dtype).min
weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
weights = weights.masked_fill(~mask, 0.0)  # a row of all False: zeros
print("weights of 我们:", [round(x, 2) for x in weights[1].tolist()])

query, key = scores * 3**0.5, torch.eye(3)  # their scores are the ones above
_, same = scaled_dot_product_attention(query, key, key, mask)
print("the function gives the same:", torch.allclose(weights, same))
