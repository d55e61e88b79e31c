import torch

from transformer import scaled_dot_product_attention


def wrong_weights(query, key, mask):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    return scores.masked_fill(~mask, -1e4).softmax(dim=-1)


def right_weights(query, key, mask):
    return scaled_dot_product_attention(query, key, key, mask)[1]


mask = torch.ones(8, 8, dtype=torch.bool).tril()  # True may attend
for factor in 1, 30, 100, 300:  # how far training has blown up the vectors
    torch.manual_seed(0)
    query, key = factor * torch.randn(2, 1000, 8, 16)
    largest = (query @ key.transpose(1, 2) / 4).abs().max()
    for weigh in wrong_weights, right_weights:
        name = weigh.__name__.split("_")[0]
        leaked = weigh(query, key, mask).masked_fill(mask, 0).sum(dim=-1).mean()
        print(f"{name}, vectors times {factor}, to the future: {leaked:.1%}")
    print(f"vectors times {factor}, largest score: {largest:.0f}")
