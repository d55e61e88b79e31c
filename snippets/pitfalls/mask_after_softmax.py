import torch


def wrong_weights(scores, mask):
    return scores.softmax(dim=-1) * mask


def right_weights(scores, mask):
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)


torch.manual_seed(0)
mask = torch.ones(6, 6, dtype=torch.bool).tril()  # True may attend
product = torch.randn(16, 16) / 16  # of the query's and the key's matrix
x = torch.randn(6, 16)
changed = torch.cat([x[:-1], -x[-1:]])  # another last token
for weigh in wrong_weights, right_weights:
    name = weigh.__name__.split("_")[0]
    weights = weigh(x @ product @ x.T, mask)
    other = weigh(changed @ product @ changed.T, mask)
    sums = " ".join(f"{x:.2f}" for x in weights.sum(dim=-1).tolist())
    moved = (weights @ x - other @ changed)[:-1].abs().max()
    print(f"{name}, to the future: {weights[~mask].sum():.2f}")
    print(f"{name}, sum of each row: {sums}")
    print(f"{name}, the past moves with the future by: {moved:.2f}")
