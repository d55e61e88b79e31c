import torch

w1 = torch.tensor([[1.0, -1], [-1, 1]])  # a column for each hidden unit
w2 = torch.tensor([[-0.5, 1], [0.5, 1]])  # a row for each hidden unit

for a, b in (1, 0), (1, 1), (3, 1):
    x = torch.tensor([float(a), b])
    hidden = (x @ w1).relu()  # both biases are 0
    output = hidden @ w2
    print(f"({a}, {b}), hidden units:", hidden.tolist())
    print(f"({a}, {b}), output:", output.tolist())

print("(3, 1), without ReLU:", (x @ w1 @ w2).tolist())
print("(3, 1), one matrix:", (x @ (w1 @ w2)).tolist())
