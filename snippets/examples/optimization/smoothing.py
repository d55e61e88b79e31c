import torch
import torch.nn.functional as F

logits, correct = torch.tensor([2.0, 1.0, 0.0, 0.0]), torch.tensor(0)
target = torch.full((4,), 0.1 / 4)  # a tenth, shared equally
target[correct] += 0.9  # the rest
loss = -(target * logits.log_softmax(dim=0)).sum()
same = F.cross_entropy(input=logits, target=correct, label_smoothing=0.1)
print(f"loss: {loss:.3f}; of PyTorch: {same:.3f}")
