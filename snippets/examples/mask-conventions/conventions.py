import torch
import torch.nn.functional as F

from transformer import (
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)

torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 2, 5, 8)  # (batch, head, position, 8)
ids = torch.tensor([[1, 4, 5, 9, 0]])
mask = causal_mask(5) & padding_mask(ids)
ours, _ = scaled_dot_product_attention(query, key, value, mask)

attention_mask = (ids != 0).long()  # as a Hugging Face tokenizer makes it
extended = attention_mask[:, None, None, :] * causal_mask(5)
lowest = torch.finfo(query.dtype).min
for name, theirs in {
    "boolean": mask,
    "added, 0 or -inf": torch.where(mask, 0.0, -torch.inf),
    "added, 0 or lowest": (1.0 - extended) * lowest,
    "inverted": ~mask,
}.items():
    x = F.scaled_dot_product_attention(query, key, value, theirs)
    print(f"{name}: {(x - ours).abs().max():.5f}")

try:
    scaled_dot_product_attention(query, key, value, (1.0 - extended) * lowest)
except ValueError as error:
    print(error)
