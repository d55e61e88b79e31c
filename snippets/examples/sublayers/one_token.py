import torch

x = torch.tensor([3.0, 1])
w1 = torch.tensor([[1.0, -1, 1], [-1, 1, 1]])  # 2 rows, 3 columns
b1 = torch.tensor([0.0, 0, -3])
w2 = torch.tensor([[0.0, 1], [1, 0], [-1, 0]])  # 3 rows, 2 columns
b2 = torch.tensor([0.0, 0])

sums = x @ w1 + b1
hidden = sums.relu()
output = hidden @ w2 + b2
print("sums:", sums.tolist())
print("hidden units:", hidden.tolist())
print("output:", output.tolist())
