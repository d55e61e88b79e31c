import torch
import torch.nn.functional as F

from train import label_smoothed_cross_entropy

logits = torch.tensor([[2.0, 1.0, 0.0, 0.0]])
target = torch.tensor([0])
log_p = logits.log_softmax(dim=-1)
print("-ln p:", [round(x, 3) for x in (-log_p[0]).tolist()])
for smoothing in 0.0, 0.1:
    q = torch.full((4,), smoothing / 4)
    q[target] += 1 - smoothing
    print(f"q, smoothing {smoothing}:", [round(x, 3) for x in q.tolist()])
    print(f"by hand, {smoothing}: {-(q * log_p).sum():.4f}")
    ours = label_smoothed_cross_entropy(logits, target, smoothing, -100)
    print(f"ours, {smoothing}: {ours:.4f}")
    torchs = F.cross_entropy(logits, target, label_smoothing=smoothing)
    print(f"PyTorch's, {smoothing}: {torchs:.4f}")
