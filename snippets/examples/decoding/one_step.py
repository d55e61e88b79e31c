from pathlib import Path

import torch

import translator
from translator import BOS

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])  # (1, 5)
model.eval()  # no dropout
with torch.no_grad():  # nothing is trained here
    memory = model.encode(src)  # (1, 5, d_model)
    x = model.decode(torch.tensor([[BOS]]), memory)  # (1, 1, d_model)
    probs = model.logits(x[0, -1]).softmax(dim=-1)  # (314,)
for p, i in zip(*probs.topk(3), strict=True):
    print(f"{target.tokens[i]}: {p:.2%}")
