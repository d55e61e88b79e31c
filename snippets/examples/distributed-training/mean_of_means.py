import torch

import corpus
from batching import batches, example_of
from trainer import SINGLE_PROCESS, Settings, forward_backward
from translator import new_translator

sizes = {"d_model": 32, "nhead": 4, "dim_feedforward": 64, "dropout": 0.0}
numbers = [corpus.number_pair(n) for n in range(0, 1_000_000, 300)]
pairs = [corpus.number_pair(n) for n in (7, 342005, 12, 987654, 40, 123456)]
translator = new_translator(numbers, **sizes)
model = translator.model


def loss_and_gradient(batch):
    model.zero_grad()
    loss, _ = forward_backward(model, batch, Settings(), SINGLE_PROCESS)
    return loss, torch.cat([p.grad.flatten() for p in model.parameters()])


uneven = [example_of(translator, pair) for pair in pairs]
similar = next(batches([example_of(translator, n) for n in numbers], 64, 0))
for title, batch in {"uneven": uneven, "similar lengths": similar}.items():
    loss, gradient = loss_and_gradient(batch)
    halves = [batch[0::2], batch[1::2]]  # uneven: short numbers, long numbers
    parts = [loss_and_gradient(half) for half in halves]
    tokens = [sum(len(tgt) - 1 for _, tgt in half) for half in halves]
    print(f"{title}, tokens:", *tokens)
    for name, weights in {
        "mean of the means": [1 / 2, 1 / 2],
        "by tokens": [count / sum(tokens) for count in tokens],
    }.items():
        both = [
            sum(w * part[i] for w, part in zip(weights, parts, strict=True))
            for i in (0, 1)
        ]
        loss_off = abs(both[0] - loss)
        print(f"{title}, {name}, loss off by: {loss_off:.6f}")
        off = (both[1] - gradient).norm() / gradient.norm()
        print(f"{title}, {name}, gradient off by: {off:.2%}")
