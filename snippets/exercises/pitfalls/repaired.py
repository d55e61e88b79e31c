import torch

targets = torch.tensor([[1, 4, 5, 6, 2], [1, 7, 8, 9, 2]])
wrong = targets.view(-1)[2:]
right = targets[:, 1:].reshape(-1)
print("wanted:", right.tolist())
print("same shape:", wrong.shape == right.shape)
print("wrong answers:", (wrong != right).sum().item(), "of", len(right))
