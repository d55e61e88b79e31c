import torch

exponentials = torch.tensor([[2.0, 5.0, 3.0], [3.0, 3.0, 4.0], [1.0, 6.0, 3.0]])
scores = exponentials.log()
mask = torch.ones(3, 3, dtype=torch.bool).tril()  # True may attend

scores = scores.masked_fill(~mask, -torch.inf)  # hide where False
weights = scores.softmax(dim=-1)
print(weights)
