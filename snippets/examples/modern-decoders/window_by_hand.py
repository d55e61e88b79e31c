import torch

position = torch.arange(5)
distance = position.unsqueeze(1) - position  # rows: queries
print("distances:")
print(distance)
print("seen in a window of 3:")
print(((distance >= 0) & (distance < 3)).int())
