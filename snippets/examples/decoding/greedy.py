from pathlib import Path

import torch

import translator
from translator import BOS, EOS

MAX_LEN = 40  # stop here at the latest

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])  # (1, 5)
memory = model.encode(src)


def step(ids):
    """The log-probability of each token after those written so far."""
    x = model.decode(torch.tensor([ids]), memory)  # (1, n, d_model)
    return model.logits(x[0, -1]).log_softmax(dim=-1)  # (314,)


written = [BOS]
while written[-1] != EOS and len(written) < MAX_LEN:
    log_probs = step(written)
    token = log_probs.argmax().item()
    written.append(token)
    print(f"{target.tokens[token]} {log_probs[token].exp():.0%}")
