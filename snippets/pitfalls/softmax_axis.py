import torch


def wrong_weights(scores):
    return scores.softmax(dim=1)  # right for a single matrix (n, m)


def right_weights(scores):
    return scores.softmax(dim=-1)  # the keys, however many axes there are


torch.manual_seed(0)
hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)  # the future
sizes = {
    "(n, m)": (5, 5),
    "(batch, n, m)": (2, 5, 5),
    "(batch, head, n, m)": (2, 4, 5, 5),
}
for shape, size in sizes.items():
    scores = torch.randn(size).masked_fill(hidden, -1e9)
    for weigh in wrong_weights, right_weights:
        name = weigh.__name__.split("_")[0]
        rows = weigh(scores).reshape(-1, 5, 5)[0]  # of the first head
        sums = " ".join(f"{x:.2f}" for x in rows.sum(dim=-1).tolist())
        print(f"{name}, {shape}, sum of each row: {sums}")
        print(f"{name}, {shape}, to the future: {rows[hidden].sum():.2f}")
