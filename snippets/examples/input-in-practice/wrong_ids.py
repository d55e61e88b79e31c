import torch

from transformer import TokenEmbedding

embedding = TokenEmbedding(vocab_size=9, d_model=512)
for ids in (
    torch.tensor([4, 5, 6]),
    torch.tensor([[4.0, 5.0]]),
    torch.tensor([[4, 9]]),
    torch.tensor([[-1, 4]]),
    torch.empty(2, 0, dtype=torch.int64),
):
    try:
        embedding(ids)
    except ValueError as error:
        print(error)
