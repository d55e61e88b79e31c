import torch

from transformer import scaled_dot_product_attention


def half(*numbers):
    return torch.tensor(numbers, dtype=torch.float16)


last = torch.tensor([False, False, True])  # the third key is forbidden
low, high = half(-20000, -20016, 0), half(0, 1, 20000)
replaced = low.masked_fill(last, -1e4).softmax(dim=0)
added = (high + half(0, 0, -1e4)).softmax(dim=0)
print("low scores, replaced by -1e4:", f"{replaced[2]:.0%}")
print("high score, -1e4 added:", f"{added[2]:.0%}")
for name, scores in ("low scores", low), ("high score", high):
    # with the query 1 the keys are the scores
    query, key = torch.ones_like(scores[:1, None]), scores[:, None]
    _, weights = scaled_dot_product_attention(query, key, key, ~last)
    print(f"{name}, ours:", f"{weights[0, 2]:.0%}")

usual = torch.tensor([2.0, 1.0, 3.0])
print("no mask:", usual.softmax(dim=0).numpy().round(2))
for fill in -1e4, -1e9:
    weights = (usual + fill).softmax(dim=0)  # all three forbidden
    print(f"all forbidden, {fill:.0e} added:", weights.numpy().round(2))

lowest = torch.finfo(torch.float32).min
print("two masks added:", (usual + lowest + lowest).tolist())
