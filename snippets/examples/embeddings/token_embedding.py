import torch

from transformer import TokenEmbedding

embedding = TokenEmbedding(vocab_size=4, d_model=512)
ids = torch.tensor([[1, 3], [0, 3]])  # we work; they work
x = embedding(ids)
print("ids:", tuple(ids.shape))
print("vectors:", tuple(x.shape))
