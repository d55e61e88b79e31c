import torch
import torch.nn.functional as F

q = torch.tensor([0.1, 0.7])
keys = torch.tensor([[0.7, 0.1], [0.1, 0.7]])  # of two tokens


def attend(q, keys):
    return ((keys @ q) / 2**0.5).softmax(dim=0)


for factor in 1, 10:  # 10: the matrices of q and k have grown
    large_q, large_keys = factor * q, factor * keys
    a, b = large_keys @ large_q
    print(f"times {factor}, dot products: {a:.2f} and {b:.2f}")
    a, b = attend(large_q, large_keys)
    print(f"times {factor}, weights: {a:.2f} and {b:.2f}")
    a, b = attend(F.rms_norm(large_q, (2,)), F.rms_norm(large_keys, (2,)))
    print(f"times {factor}, weights after the norms: {a:.2f} and {b:.2f}")
