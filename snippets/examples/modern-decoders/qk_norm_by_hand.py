import torch
from torch import nn

query_norm, key_norm = nn.RMSNorm(2), nn.RMSNorm(2)  # of one head
q = torch.tensor([0.1, 0.7])
keys = torch.tensor([[0.7, 0.1], [0.1, 0.7]])  # of two tokens

for factor in 1, 10:  # 10: the matrices of q and k have grown
    q2, keys2 = factor * q, factor * keys
    a, b = (keys2 @ q2 / 2**0.5).softmax(dim=0)
    print(f"times {factor}, weights: {a:.2f} and {b:.2f}")
    a, b = (key_norm(keys2) @ query_norm(q2) / 2**0.5).softmax(dim=0)
    print(f"times {factor}, weights with QK-norm: {a:.2f} and {b:.2f}")
