import torch

from variants.deepseek_experts import DeepSeekExperts
from variants.experts import GatedFeedForward
from variants.latent_attention import LatentAttention


def count(module, *sizes):
    with torch.device("meta"):  # shapes without numbers
        return sum(p.numel() for p in module(*sizes).parameters())


table = 129280 * 7168  # the output layer has as many weights
norms = 2 * 61 * 7168 + 7168
dense = count(GatedFeedForward, 7168, 18432, "silu")  # the first 3 layers
expert = count(GatedFeedForward, 7168, 2048, "silu")
total = 2 * table + norms + 61 * count(LatentAttention)
total += 3 * dense + 58 * count(DeepSeekExperts)
print(f"DeepSeek-V3, billions: {total / 1e9:.1f}")
token = total - table - 58 * (256 - 8) * expert
print(f"DeepSeek-V3, billions for a token: {token / 1e9:.1f}")
