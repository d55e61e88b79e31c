import torch

from decode import KeyValueCache
from search import MAX_LEN, model, src, target
from translator import BOS, EOS

written = [BOS]
cache = KeyValueCache(model, src)
while written[-1] != EOS and len(written) < MAX_LEN:
    logits = cache.step(torch.tensor([written[-1]]))  # (1, 314)
    written.append(logits.argmax().item())
print("".join(target.decode(written)))
