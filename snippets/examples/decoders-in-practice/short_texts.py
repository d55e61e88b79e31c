import torch

from variants.rope_scaling import rope_frequencies, rotate_halves

torch.manual_seed(0)
q, k = torch.randn(2, 10000, 1, 128)  # pairs of a query and a key


def scores(distance, **options):
    angle, size = rope_frequencies(128, **options)
    turned = rotate_halves(q, distance * angle, size)
    return (turned * k * size).sum(dim=-1)


for distance in 50, 500:
    before = scores(distance)
    for scaling in "linear", "ntk", "yarn":
        after = scores(distance, scaling=scaling, factor=4.0)
        change = (after - before).std() / before.std()
        print(f"{scaling}, {distance} tokens apart, change: {change:.2f}")
