import torch
import torch.nn.functional as F
from torch import nn

from transformer import scaled_dot_product_attention


def wrong_attention(x, mask):
    scores = x @ x.transpose(1, 2) / x.size(-1) ** 0.5
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ x


def right_attention(x, mask):
    return scaled_dot_product_attention(x, x, x, mask)[0]


ids = torch.tensor([[5, 6, 7], [0, 0, 0]])  # the second sentence is empty
mask = (ids != 0).unsqueeze(1)  # (batch, 1, n)
for attend in wrong_attention, right_attention:
    name = attend.__name__.split("_")[0]
    torch.manual_seed(0)
    embedding, output = nn.Embedding(8, 4), nn.Linear(4, 8)
    logits = output(attend(embedding(ids), mask)).flatten(0, 1)
    loss = F.cross_entropy(logits, ids.flatten(), ignore_index=0)
    loss.backward()
    print(f"{name}, loss: {loss:.2f}")
    for label, table in ("vectors", embedding), ("output matrix", output):
        lost = table.weight.grad.isnan().any(dim=1).sum()
        print(f"{name}, rows of the {label} lost, of 8: {lost}")
