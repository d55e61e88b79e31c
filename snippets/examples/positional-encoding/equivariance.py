import torch

torch.manual_seed(0)
n, d = 5, 8  # why do we work ?
X = torch.randn(n, d, dtype=torch.float64)
to_query, to_key, to_value = torch.randn(3, d, d, dtype=torch.float64)
causal = torch.ones(n, n, dtype=torch.bool).tril()


def f(x, mask=None):
    scores = (x @ to_query) @ (x @ to_key).T / d**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ (x @ to_value)


def largest(difference):
    return f"{difference.abs().max():.4f}"


P = torch.eye(n, dtype=torch.float64).flip(0)  # ? work we do why
print("f(PX) - f(X):", largest(f(P @ X) - f(X)))
print("f(PX) - P f(X):", largest(f(P @ X) - P @ f(X)))
print("their means over positions:", largest(f(P @ X).mean(0) - f(X).mean(0)))
print("with a causal mask:", largest(f(P @ X, causal) - P @ f(X, causal)))
