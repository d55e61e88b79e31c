import torch

W = torch.tensor([[1.0, 2, 0], [0, 1, 0], [0, 0, 1]])
A = torch.tensor([[1.0, 0, 2]])  # (1, 3)
B = torch.tensor([[2.0], [0], [1]])  # (3, 1)
x = torch.tensor([1.0, 1, 1])

print("B A:", (B @ A).tolist())
print("x W^T:", (x @ W.T).tolist())
print("x A^T:", (x @ A.T).tolist())
print("x A^T B^T:", (x @ A.T @ B.T).tolist())
print("the sum:", (x @ W.T + x @ A.T @ B.T).tolist())
merged = W + B @ A
print("merged:", merged.tolist())
print("x (W + B A)^T:", (x @ merged.T).tolist())
