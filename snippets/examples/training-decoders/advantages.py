import torch

from variants.verifiable import group_advantages

for rewards in ([1.0, 0, 0, 1], [1.0, 0, 0, 0], [0.0, 0, 0, 0]):
    advantages = group_advantages(torch.tensor([rewards]))[0]
    shown = [round(a, 2) for a in advantages.tolist()]
    print(f"rewards {[int(r) for r in rewards]}: {shown}")
