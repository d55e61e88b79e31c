import torch

ids = torch.tensor(
    [
        [4, 5, 6, 7, 8],  # why do we work ?
        [6, 7, 0, 0, 0],  # we work <pad> <pad> <pad>
    ]
)
real = ids != 0
print(real.int())

mask = real[:, None, None, :]  # two more axes, of size 1
print("shape:", tuple(mask.shape))

copied = mask.expand(2, 2, 5, 5)  # sentences, heads, queries, keys
print("second sentence, head 1, all queries:")
print(copied[1, 1].int())
