import torch

keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 0.0]])
queries = torch.tensor([[2.0, 0.0], [0.0, 1.0]])  # of two indexer heads
head_weights = torch.tensor([1.0, 3.0])

matches = (queries @ keys.T).relu()
print("head 0:", matches[0].tolist())
print("head 1:", matches[1].tolist())
index_scores = head_weights @ matches
print("index scores:", index_scores.tolist())
best = index_scores.topk(2).indices.sort().values
print("chosen:", best.tolist())

scores = torch.tensor([1.0, 1.0, 3.0, 5.0]).log()  # of attention itself
values = torch.tensor([8.0, 4.0, 12.0, 20.0])
print(f"over all: {scores.softmax(dim=0) @ values:.1f}")
print(f"over the chosen: {scores[best].softmax(dim=0) @ values[best]:.1f}")
