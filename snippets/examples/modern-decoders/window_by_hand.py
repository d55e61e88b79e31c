import torch

position = torch.arange(5)
distance = position.unsqueeze(1) - position  # rows: queries
print(((distance >= 0) & (distance < 3)).int())
