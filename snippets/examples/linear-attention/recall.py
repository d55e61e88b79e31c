import torch
from torch import Tensor
from torch.nn.functional import normalize

from variants.delta_rule import chunked_delta_rule

D, SEEDS = 64, 5


def make_pairs(n: int, seed: int, orthogonal: bool) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    keys, values = torch.randn(2, n, D, generator=generator)
    if orthogonal:
        keys = torch.linalg.qr(keys.T).Q.T  # rows of length 1
    return normalize(keys, dim=-1), values


def error(read: Tensor, values: Tensor) -> Tensor:
    return (read - values).norm(dim=-1) / values.norm(dim=-1)


def recall(n: int, seed: int, orthogonal: bool = False) -> dict[str, Tensor]:
    """The relative error of each pair, read with its own key."""
    keys, values = make_pairs(n, seed, orthogonal)
    zeros, ones = torch.zeros(n), torch.ones(n)
    _, state = chunked_delta_rule(keys, keys, values, zeros, ones)
    queries = 64 * keys  # long, so that softmax chooses one key
    attended = torch.softmax(queries @ keys.T, dim=-1) @ values
    return {
        "sum": error(keys @ (keys.T @ values), values),
        "delta rule": error(keys @ state, values),
        "attention": error(attended, values),
    }


def mean_errors(n: int, orthogonal: bool = False) -> dict[str, float]:
    runs = [recall(n, seed, orthogonal) for seed in range(SEEDS)]
    return {
        name: torch.stack([run[name].mean() for run in runs]).mean().item()
        for name in runs[0]
    }


def describe(errors: dict[str, float]) -> str:
    return ", ".join(f"{name} {mean:.2f}" for name, mean in errors.items())


if __name__ == "__main__":
    for n in (16, 64):
        errors = mean_errors(n, orthogonal=True)
        print(f"{n} orthogonal keys: {describe(errors)}")
    for n in (16, 64, 256, 1024):
        print(f"{n} random keys: {describe(mean_errors(n))}")
    by_age = torch.stack([recall(64, s)["delta rule"] for s in range(100)])
    print(f"newest of 64 random keys: {by_age[:, -1].mean():.2f}")
    print(f"oldest of 64 random keys: {by_age[:, 0].mean():.2f}")
