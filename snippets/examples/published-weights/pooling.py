import torch

from variants.similar import mean_pooling

states = torch.tensor([[[1.0, 3.0], [3.0, 1.0], [5.0, -1.0]]])
real = torch.tensor([[True, True, False]])  # the last position is padding
with_mask = mean_pooling(states, real)[0]
without = states.mean(dim=1)[0]
cosine = torch.cosine_similarity(with_mask, without, dim=0)
print(f"with the mask: {with_mask.tolist()}")
print(f"without it: {without.tolist()}")
print(f"cosine of the two: {cosine.item():.2f}")
