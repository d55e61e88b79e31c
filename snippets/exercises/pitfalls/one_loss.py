import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from transformer import Transformer, TransformerConfig


@torch.no_grad()
def validate(model, pairs, size):
    was_training = model.training
    model.eval()
    total, tokens = 0.0, 0
    for i in range(0, len(pairs), size):
        sources, targets = zip(*pairs[i : i + size], strict=True)
        src = pad_sequence(sources, batch_first=True)
        tgt = pad_sequence(targets, batch_first=True)
        logits = model(src, tgt[:, :-1])
        answers = tgt[:, 1:]
        total += F.cross_entropy(
            logits.transpose(1, 2), answers, ignore_index=0, reduction="sum"
        )
        tokens += (answers != 0).sum()
    model.train(was_training)
    return total / tokens


torch.manual_seed(0)
model = Transformer(TransformerConfig(9, 12, 32, 4, 1, 1, 64))
pairs = [
    (torch.randint(1, 9, (n,)), torch.randint(1, 12, (2 * n,)))
    for n in (2, 9, 3, 7, 2, 8, 4)
]
for size in 1, 3, 7:
    print(f"batches of {size}: {validate(model, pairs, size):.3f}")
