import torch

from transformer import TokenEmbedding

torch.manual_seed(0)
embedding = TokenEmbedding(vocab_size=9, d_model=512, padding_idx=0)
ids = torch.tensor(
    [
        [4, 5, 6, 7, 8],  # why do we work ?
        [6, 7, 0, 0, 0],  # we work
    ]
)
x = embedding(ids)
print("ids:", tuple(ids.shape))
print("vectors:", tuple(x.shape))
print("the same word, the same vector:", torch.equal(x[0, 2], x[1, 0]))
print("padding is zero:", not x[1, 2:].any())
