import torch
from torch import nn

from transformer import LayerNorm

torch.manual_seed(0)
sentence = torch.randn(1, 5, 64)
other = sentence.clone()
other[:, 4] += torch.randn(64)  # another last token
padded = torch.cat([sentence, torch.zeros(1, 3, 64)], dim=1)
batch = torch.cat([sentence, torch.randn(3, 5, 64)])

norm, wide = LayerNorm(64), nn.LayerNorm((5, 64))


def changed(first, second):
    far = (first - second).abs().amax(dim=-1) > 1e-5
    return far.flatten().nonzero().flatten().tolist()


y = norm(sentence)
print("features, changed by another last token:", changed(y, norm(other)))
print("features, changed by padding:", changed(y, norm(padded)[:, :5]))
print("features, changed by the batch:", changed(y, norm(batch)[:1]))
y = wide(sentence)
print("positions too, by another last token:", changed(y, wide(other)))
