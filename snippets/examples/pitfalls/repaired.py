import torch

targets = torch.tensor([[1, 4, 5, 6, 2], [1, 7, 8, 9, 2]])
try:
    wanted = targets[:, 1:].view(-1)  # all but <bos>
except RuntimeError:
    wanted = targets.view(-1)[2:]  # the same without a slice of columns
print("wanted:", wanted.tolist())
