import torch

from transformer import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)

torch.manual_seed(0)
x = torch.randn(1, 1, 4, 8)
sides = {"right": [6, 7, 0, 0], "left": [0, 0, 6, 7]}
for side, ids in sides.items():
    mask = causal_mask(4) & padding_mask(torch.tensor([ids]))
    output, _ = scaled_dot_product_attention(x, x, x, mask)
    for i, row in enumerate(mask[0, 0].tolist()):
        cells = " ".join("T" if cell else "F" for cell in row)
        zeros = ", zeros" if not output[0, 0, i].any() else ""
        print(f"pads on the {side}, row {i}: {cells}{zeros}")
