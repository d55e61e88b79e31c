import math

import torch

import pencil

trained = pencil.load_pencil()
untrained = pencil.new_pencil(pencil.SEED)
(pair,) = (p for p in pencil.sentences() if p.source in pencil.UNSEEN)
for name, translator in ("before", untrained), ("after", trained):
    src, tgt, *_ = pencil.batch_of(translator, [pair])
    with torch.no_grad():
        logits = translator.model(src, tgt[:, :-1])[0]
    chances = logits.softmax(dim=-1)  # (n, vocabulary)
    losses = []
    for row, i in zip(chances.tolist(), tgt[0, 1:].tolist(), strict=True):
        token = translator.target.tokens[i]
        losses.append(-math.log(row[i]))
        print(f"{name}, probability of {token}: {row[i]:.4f}")
        print(f"{name}, loss of {token}: {losses[-1]:.4f}")
    print(f"{name}, loss: {sum(losses) / len(losses):.4f}")
print(f"guessing, loss: {math.log(len(row)):.4f}")
