import torch

experts = [  # four networks
    lambda x: 8 * x,
    lambda x: 16 * x,
    lambda x: 2 * x,
    lambda x: 4 * x,
]
probs = {  # from the router
    "we": torch.tensor([0.5, 0.3, 0.15, 0.05]),
    "work": torch.tensor([0.1, 0.2, 0.1, 0.6]),
}


def mix(x, p):
    largest, chosen = p.topk(2)
    weights = largest / largest.sum()
    y = sum(w * experts[i](x) for w, i in zip(weights, chosen, strict=True))
    return chosen, weights, y


for token, p in probs.items():
    chosen, weights, y = mix(1.0, p)  # both tokens are the number 1 here
    print(f"{token}, chosen experts:", chosen.tolist())
    print(f"{token}, weights: {weights[0]:.3f} and {weights[1]:.3f}")
    print(f"{token}, output: {y:.1f}")
