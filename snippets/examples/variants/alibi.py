import math

import torch

from variants.alibi import alibi_slopes

distance = torch.arange(5)  # the key itself, one before, two before, …
for head, slope in enumerate(alibi_slopes(4).tolist()):
    weights = (-slope * distance).softmax(dim=-1)
    print(f"head {head}, slope: 1/{1 / slope:.0f}")
    print(f"head {head}, weights:", *(f"{w:.3f}" for w in weights.tolist()))
    print(f"head {head}, factor of a step: {math.exp(-slope):.3f}")
    print(f"head {head}, steps to a half: {math.log(2) / slope:.1f}")
