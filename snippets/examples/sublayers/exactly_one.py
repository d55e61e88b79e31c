import torch

x = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])  # a and b
w1 = torch.tensor([[1.0, 1], [1, 1]])  # a column for each hidden unit
b1 = torch.tensor([0.0, -1])
w2 = torch.tensor([[1.0], [-2]])  # a row for each hidden unit

sums = x @ w1 + b1
hidden = sums.relu()
output = hidden @ w2  # the second bias is 0
print("hidden units:", hidden.tolist())
print("exactly one:", output.flatten().tolist())
