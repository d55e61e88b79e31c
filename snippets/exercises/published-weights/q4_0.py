import struct

import torch
from torch import Tensor


def from_q4_0(blocks: Tensor) -> Tensor:
    """Blocks of 18 bytes -> 32 numbers each, scale * (integer - 8)."""
    scale = blocks[:, :2].view(torch.float16).float()  # (blocks, 1)
    pairs = blocks[:, 2:]  # (blocks, 16)
    integers = torch.cat([pairs & 15, pairs >> 4], dim=1)  # (blocks, 32)
    return scale * (integers.float() - 8)


block = struct.pack("<e", 0.5) + bytes([0x98, 0xF0]) + bytes(14)
weights = from_q4_0(torch.tensor([[*block]], dtype=torch.uint8))[0]
for number in 0, 1, 16, 17:
    print(f"weight {number}: {weights[number].item():.1f}")
print(f"bits a weight: {8 * len(block) / 32}")
