import torch

from variants.deepseek_experts import DeepSeekExperts
from variants.latent_attention import LatentAttention

with torch.device("meta"):  # shapes without numbers
    parts = LatentAttention(), DeepSeekExperts()
layer = sum(p.numel() for part in parts for p in part.parameters())
join = 2 * 7168 * 7168  # two vectors in, one out
print(f"further layer, billions: {layer / 1e9:.1f}")
print(f"with the matrix that joins: {(layer + join) / 1e9:.1f}")
