import torch
from torch import nn

torch.manual_seed(4)
dropout = nn.Dropout(p=0.5)
x = torch.tensor([1.0, 2.0, 3.0, 4.0])
print("training:", dropout(x))
print("training, again:", dropout(x))
dropout.eval()
print("inference:", dropout(x))
