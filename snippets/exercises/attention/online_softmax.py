import torch

from transformer import scaled_dot_product_attention

torch.manual_seed(0)
query, key, value = torch.randn(3, 128, 64, dtype=torch.float64)

largest = torch.full((128, 1), float("-inf"), dtype=torch.float64)
total = torch.zeros(128, 1, dtype=torch.float64)
output = torch.zeros(128, 64, dtype=torch.float64)
held = 0
for k, v in zip(key.split(16), value.split(16), strict=True):
    scores = query @ k.T / 64**0.5  # (128, 16), never (128, 128)
    new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
    shrink = (largest - new).exp()  # what came before, on the new scale
    powers = (scores - new).exp()
    total = total * shrink + powers.sum(dim=-1, keepdim=True)
    output = output * shrink + powers @ v
    largest = new
    held = max(held, scores.numel())

expected, _ = scaled_dot_product_attention(query, key, value)
print("same output:", torch.allclose(output / total, expected))
print("scores in one matrix:", held, "instead of", 128 * 128)
