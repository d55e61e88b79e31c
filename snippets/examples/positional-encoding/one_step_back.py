from math import cos, sin

import torch

back = torch.tensor([[cos(1), -sin(1)], [sin(1), cos(1)]])
print("matrix:", [[f"{x:.2f}" for x in row] for row in back.tolist()])
for p in 1, 2, 8:
    hand = torch.tensor([sin(p), cos(p)])
    before = torch.tensor([sin(p - 1), cos(p - 1)])
    print(f"{p} to {p - 1}:", torch.allclose(back @ hand, before))
