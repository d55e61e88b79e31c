import torch

rows = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # of the output layer: A, B
state = torch.tensor([2.0, 1.0])
print(f"after layer 1: {(rows @ state).tolist()}")
state = state + torch.tensor([0.0, 3.0])  # what layer 2 adds
print(f"after layer 2: {(rows @ state).tolist()}")
