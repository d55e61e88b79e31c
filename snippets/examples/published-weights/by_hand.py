import torch

from variants.gguf_weights import quantize

weights = torch.tensor([[-0.30, 0.64, 0.13, 1.20]])
scale, minimum, integers = quantize(weights, bits=4)
back = scale.float() * integers + minimum.float()
print(f"scale: {scale.item():.2f}")
print(f"minimum: {minimum.item():.2f}")
print(f"integers: {integers[0].tolist()}")
print("back: " + ", ".join(f"{x:.2f}" for x in back[0].tolist()))
print(f"largest error: {(back - weights).abs().max().item():.2f}")
