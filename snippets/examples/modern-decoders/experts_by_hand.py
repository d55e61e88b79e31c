import torch

experts = [lambda x: 8, lambda x: 16, lambda x: 2, lambda x: 4]
probs = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.1, 0.2, 0.1, 0.6]])
w_router = probs.log()  # x @ w_router picks a row, softmax undoes the log


def mixture(x, top_k=2):  # x: one token
    probs = (x @ w_router).softmax(dim=-1)
    largest, chosen = probs.topk(top_k)
    weights = largest / largest.sum()
    return sum(w * experts[i](x) for w, i in zip(weights, chosen, strict=True))


we, work = torch.eye(2)  # (1, 0) and (0, 1)
print(f"we, output: {mixture(we):.1f}")
print(f"work, output: {mixture(work):.1f}")
