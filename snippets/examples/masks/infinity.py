import torch

exponentials = torch.tensor([[2.0, 5.0, 3.0], [3.0, 3.0, 4.0], [1.0, 6.0, 3.0]])
scores = exponentials.log()
mask = torch.ones(3, 3, dtype=torch.bool).tril()  # True may attend

kept = scores.softmax(dim=-1) * mask  # the simple way
kept = kept / kept.sum(dim=-1, keepdim=True)
hidden = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
print("−∞, as the simple way:", torch.allclose(hidden, kept))

# the lines of scaled_dot_product_attention
lowest = torch.finfo(scores.dtype).min
weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
weights = weights.masked_fill(~mask, 0.0)  # a row of all False: zeros
print("the lowest number:", lowest)
print("the lowest number, as −∞:", torch.equal(weights, hidden))
