import torch

import corpus
from batching import example_of
from trainer import SINGLE_PROCESS, Settings, forward_backward
from translator import new_translator

sizes = {"d_model": 32, "nhead": 4, "dim_feedforward": 64, "dropout": 0.0}
pairs = [corpus.number_pair(n) for n in (7, 12, 40, 3, 342005, 987654, 6, 9)]
translator = new_translator(pairs, **sizes)
model = translator.model
examples = [example_of(translator, pair) for pair in pairs]


def gradient():
    return torch.cat([p.grad.flatten() for p in model.parameters()])


forward_backward(model, examples, Settings(), SINGLE_PROCESS)
whole = gradient()
for name in "as it is", "by tokens":
    total = torch.zeros_like(whole)
    count = 0
    for i in range(0, 8, 2):
        model.zero_grad()
        part = examples[i : i + 2]
        forward_backward(model, part, Settings(), SINGLE_PROCESS)
        tokens = sum(len(tgt) - 1 for _, tgt in part)
        total += (1 if name == "as it is" else tokens) * gradient()
        count += 1 if name == "as it is" else tokens
    total /= count
    print(f"{name}, off by: {(total - whole).norm() / whole.norm():.4%}")
