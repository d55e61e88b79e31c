import torch

w_router = torch.tensor([[1.0, 0.0, -1.0, -1.0], [0.0, 1.0, 1.0, 2.0]])
experts = [lambda x: 2 * x, lambda x: x**2, lambda x: -x, lambda x: x + 1]


def mixture(x, top_k=2):  # x: one token
    probs = (x @ w_router).softmax(dim=-1)
    largest, chosen = probs.topk(top_k)
    weights = largest / largest.sum()
    outputs = [experts[i](x) for i in chosen.tolist()]
    return probs, weights @ torch.stack(outputs)


torch.set_printoptions(precision=2)
we, work = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
for token, x in ("we", we), ("work", work):
    probs, y = mixture(x)
    print(f"{token}, probabilities:", probs)
    print(f"{token}, output:", y)
