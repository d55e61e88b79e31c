import torch

we = torch.tensor([-3, -4, 3, 2])
work = torch.tensor([2, 3, -4, 0])
print("we work:", (we + work).tolist())
print("work we:", (work + we).tolist())
