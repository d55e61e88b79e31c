import torch
from torch import nn


def wrong_embedding(vectors):
    return nn.Embedding.from_pretrained(vectors, padding_idx=0)


def right_embedding(vectors):
    vectors = vectors.clone()  # ours stay as they are
    vectors[0] = 0.0
    return nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=0)


torch.manual_seed(0)
vectors = torch.randn(9, 4)  # made elsewhere, <pad> included
ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
for name, make in ("wrong", wrong_embedding), ("right", right_embedding):
    model = nn.Sequential(make(vectors), nn.Linear(4, 2))
    pad = model[0].weight[0].norm()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(ids).square().sum().backward()
    optimizer.step()
    rows = (model[0].weight != vectors)[1:].any(dim=1).sum()
    print(f"{name}, length of the pad's vector: {pad:.2f}")
    print(f"{name}, words that have learned, of 5: {rows}")
