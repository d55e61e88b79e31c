from collections import Counter

import torch


def sample(logits, temperature=1.0, top_k=None, top_p=None):
    """The id of a token drawn at random."""
    probs, ids = (logits / temperature).softmax(dim=-1).sort(descending=True)
    if top_k is not None:
        probs[top_k:] = 0.0
        probs = probs / probs.sum()
    if top_p is not None:
        before = probs.cumsum(dim=-1) - probs  # the sum of the likelier tokens
        probs[before >= top_p] = 0.0
    return ids[probs.multinomial(1)].item()  # divides by the sum itself


logits = torch.tensor([0.40, 0.30, 0.15, 0.10, 0.05]).log()
torch.manual_seed(3)
for name, value in ("temperature", 0.5), ("top_k", 2), ("top_p", 0.8):
    drawn = Counter(sample(logits, **{name: value}) for _ in range(1000))
    print(f"{name} {value}:", [drawn[i] for i in range(5)])
