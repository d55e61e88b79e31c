import torch
import torch.nn.functional as F

logits, correct = torch.tensor([2.0, 1.0, 0.0, 0.0]), torch.tensor(0)
q = torch.full((4,), 0.1 / 4)  # a tenth, shared equally
q[correct] += 0.9  # the rest
loss = -(q * logits.log_softmax(dim=0)).sum()
same = F.cross_entropy(logits, correct, label_smoothing=0.1)
print(f"loss: {loss:.3f}; of PyTorch: {same:.3f}")
