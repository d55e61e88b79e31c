import torch

import corpus
from train import SINGLE_PROCESS, Settings, example_of, gradients
from translator import new_translator

sizes = {"d_model": 32, "nhead": 4, "dim_feedforward": 64, "dropout": 0.0}
pairs = [corpus.number_pair(n) for n in (7, 342005, 12, 987654, 40, 123456)]
translator = new_translator(pairs, **sizes)
model = translator.model
examples = [example_of(translator, pair) for pair in pairs]


def loss_and_gradient(batch):
    model.zero_grad()
    loss, _ = gradients(model, batch, Settings(), SINGLE_PROCESS)
    return loss, torch.cat([p.grad.flatten() for p in model.parameters()])


loss, gradient = loss_and_gradient(examples)
halves = [examples[0::2], examples[1::2]]  # short numbers, long numbers
parts = [loss_and_gradient(half) for half in halves]
tokens = [sum(len(tgt) - 1 for _, tgt in half) for half in halves]
print("tokens:", *tokens)
for name, weights in {
    "mean of the means": [1 / 2, 1 / 2],
    "by tokens": [count / sum(tokens) for count in tokens],
}.items():
    both = [
        sum(w * part[i] for w, part in zip(weights, parts, strict=True))
        for i in (0, 1)
    ]
    print(f"{name}, loss off by: {abs(both[0] - loss):.6f}")
    off = (both[1] - gradient).norm() / gradient.norm()
    print(f"{name}, gradient off by: {off:.2%}")
