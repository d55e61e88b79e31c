import math
from collections import Counter

import torch


def sample(logits, temperature=1.0, top_k=None, top_p=None):
    """The id of a token drawn at random."""
    logits = logits / temperature
    if top_k is not None:
        smallest = logits.topk(top_k).values[-1]
        logits = logits.masked_fill(logits < smallest, -math.inf)
    probs = logits.softmax(dim=-1)
    if top_p is not None:
        ranked, ids = probs.sort(descending=True)
        before = ranked.cumsum(dim=-1) - ranked  # the sum of the likelier ones
        probs[ids[before >= top_p]] = 0.0
    return probs.multinomial(1).item()


logits = torch.tensor([0.40, 0.30, 0.15, 0.10, 0.05]).log()
torch.manual_seed(3)
for name, value in ("temperature", 0.5), ("top_k", 2), ("top_p", 0.8):
    drawn = Counter(sample(logits, **{name: value}) for _ in range(1000))
    print(f"{name} {value}:", [drawn[i] for i in range(5)])
