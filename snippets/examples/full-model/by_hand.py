import torch
from torch.nn.functional import cross_entropy

logits = torch.tensor([2.0, 1.0, 0.0])
target = torch.tensor(0)  # the first token is the correct one
print("softmax:", [round(p, 3) for p in logits.softmax(-1).tolist()])
print(f"its -log: {-logits.softmax(-1)[0].log():.3f}")
print(f"cross_entropy: {cross_entropy(logits, target):.3f}")
print(f"softmax before it: {cross_entropy(logits.softmax(-1), target):.3f}")
