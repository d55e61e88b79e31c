import torch
from torch import nn

x = torch.ones(3)
dropout = nn.Dropout(0.1).eval()  # in evaluation it hands back x itself
y = dropout(x)
y += x
print("the caller's x, after y += x:", x.tolist())

x = torch.ones(3)
y = dropout(x)
y = y + x
print("the caller's x, after y = y + x:", x.tolist())

x = torch.ones(3, requires_grad=True)
y = x.sigmoid()  # its derivative is computed from its result
y += x
try:
    y.sum().backward()
except RuntimeError as error:
    message = str(error).split(":")[0]
    print("backward:", message.partition("gradient computation ")[2])
