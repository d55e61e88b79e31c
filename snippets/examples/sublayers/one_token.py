import torch

x = torch.tensor([3.0, 1])
w1 = torch.tensor([[1.0, -1, 1], [-1, 1, 1]])  # a column for each hidden unit
b1 = torch.tensor([0.0, 0, -3])
w2 = torch.tensor([[0.0, 1], [1, 0], [-1, 0]])  # a row for each hidden unit
b2 = torch.tensor([0.0, 0])

sums = x @ w1 + b1
hidden = sums.relu()
output = hidden @ w2 + b2
print("sums:", sums.tolist())
print("hidden units:", hidden.tolist())
print("output:", output.tolist())

without = sums @ w2 + b2
one_matrix = x @ (w1 @ w2) + (b1 @ w2 + b2)
print("without ReLU:", without.tolist())
print("one matrix:", one_matrix.tolist())
