import torch

from variants.newer_attention import softmax_with_sink

scores = torch.tensor([[12.0, 4.0], [0.5, 0.5]]).log()  # of two queries
sink = torch.tensor([4.0]).log()  # of the only head

plain = scores.softmax(dim=-1).tolist()
weights = softmax_with_sink(scores.expand(1, 1, 2, 2), sink)[0, 0].tolist()
for name, old, new in zip(["match", "no match"], plain, weights, strict=True):
    print(f"{name}, softmax: {old[0]:.2f} and {old[1]:.2f}")
    print(f"{name}, with a sink: {new[0]:.2f} and {new[1]:.2f}")
