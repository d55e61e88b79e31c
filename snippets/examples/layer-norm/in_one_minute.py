import torch
from torch import nn

norm = nn.LayerNorm(4)
x = torch.tensor([1.0, 3.0, 3.0, 9.0])
print("LayerNorm:", [round(number, 2) for number in norm(x).tolist()])


def sublayer(x):  # stands for attention or a feed-forward network
    return 0.5 * x.flip(-1)


post_norm = norm(x + sublayer(x))  # the paper
pre_norm = x + sublayer(norm(x))  # most models since GPT-2
for name, y in ("post-norm", post_norm), ("pre-norm", pre_norm):
    print(f"{name}:", [round(number, 2) for number in y.tolist()])
