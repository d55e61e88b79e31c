import math

import torch

from transformer import scaled_dot_product_attention

query = torch.tensor([[0.0], [1.0]])
key = torch.tensor([[0.0], [math.log(3)], [0.0], [0.0]])  # the last: a pad
value = torch.tensor([[10.0], [20.0], [60.0], [10.0]])
for name, mask in {
    "without a mask": [True, True, True, True],
    "with the mask": [True, True, True, False],
    "nothing but padding": [False, False, False, False],
}.items():
    output, _ = scaled_dot_product_attention(
        query, key, value, torch.tensor([mask])
    )
    print(f"{name}:", *(f"{x:.2f}" for x in output.flatten().tolist()))
