import torch

from transformer import padding_mask

ids = torch.tensor(
    [
        [4, 5, 6, 7, 8],  # why do we work ?
        [6, 7, 0, 0, 0],  # we work <pad> <pad> <pad>
    ]
)
mask = padding_mask(ids)
print("shape:", tuple(mask.shape))
print("first sentence:", mask[0, 0, 0].int().tolist())
print("second sentence:", mask[1, 0, 0].int().tolist())

copied = mask.expand(2, 2, 5, 5)  # sentences, heads, queries, keys
print("second sentence, head 1, all queries:")
print(copied[1, 1].int())
