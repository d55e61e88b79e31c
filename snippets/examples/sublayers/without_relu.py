import torch

x = torch.tensor([3.0, 1])
w1 = torch.tensor([[1.0, -1, 1], [-1, 1, 1]])
b1 = torch.tensor([0.0, 0, -3])
w2 = torch.tensor([[0.0, 1], [1, 0], [-1, 0]])
b2 = torch.tensor([0.0, 0])

without = (x @ w1 + b1) @ w2 + b2
matrix = w1 @ w2  # 2 rows, 2 columns
bias = b1 @ w2 + b2
print("without ReLU:", without.tolist())
print("one matrix:", (x @ matrix + bias).tolist())
