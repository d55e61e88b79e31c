from pathlib import Path

import torch

import translator
from decode import KeyValueCache, greedy_decode
from translator import BOS, EOS

MAX_LEN = 40

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])
written = [BOS]
model.eval()
with torch.no_grad():
    cache = KeyValueCache(model, src)  # runs the encoder
    while written[-1] != EOS and len(written) < MAX_LEN:
        logits = cache.step(torch.tensor([written[-1]]))  # (1, 314)
        written.append(logits.argmax().item())
print("".join(target.decode(written)))

ids = greedy_decode(model, src, MAX_LEN, BOS, EOS, use_cache=False)
print("the same tokens without a cache:", written[1:] == ids[0].tolist())
