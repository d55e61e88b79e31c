import torch

exponentials = torch.tensor(
    [
        [2.0, 5.0, 3.0],
        [3.0, 3.0, 4.0],
        [1.0, 6.0, 3.0],
    ]
)
scores = exponentials.log()
mask = torch.ones(3, 3, dtype=torch.bool).tril()  # True may attend
print("mask of 我们:", mask[1].int().tolist())

hidden = scores.masked_fill(~mask, -torch.inf)  # where False
print("scores of 我们:", [round(x, 2) for x in hidden[1].tolist()])
weights = hidden.softmax(dim=-1)
print("weights of 我们:", [round(x, 2) for x in weights[1].tolist()])

kept = scores.softmax(dim=-1) * mask  # the first way
kept = kept / kept.sum(dim=-1, keepdim=True)
print("all rows as before:", torch.allclose(weights, kept))
