import torch

position = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0])  # (5,)
frequency = torch.tensor([1.0, 0.01])  # (2,)

column = position.unsqueeze(1)
print("column:", tuple(column.shape))
angle = column * frequency
print("angle:", tuple(angle.shape))
print(angle)
