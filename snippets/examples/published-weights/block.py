import struct

import torch

from variants.gguf_weights import from_q4_1

header = struct.pack("<2e", 0.5, -2.0)  # scale and minimum, float16
block = header + bytes([0x10, 0x32]) + bytes(14)
weights = from_q4_1(torch.tensor([[*block]], dtype=torch.uint8))[0]
print(f"bytes: {len(block)}")
print(f"weights: {len(weights)}")
for number in 0, 1, 16, 17:
    print(f"weight {number}: {weights[number].item():.1f}")
