from pathlib import Path

import torch

import translator
from translator import BOS, EOS

MAX_LEN = 40  # stop here at the latest

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])  # (1, 5)
written = [BOS]
model.eval()
with torch.no_grad():
    memory = model.encode(src)
    while written[-1] != EOS and len(written) < MAX_LEN:
        x = model.decode(torch.tensor([written]), memory)  # (1, n, d_model)
        probs = model.logits(x[0, -1]).softmax(dim=-1)  # (314,)
        token = probs.argmax().item()
        text = "".join(target.decode(written))
        print(f"<bos>{text} -> {target.tokens[token]} {probs[token]:.0%}")
        written.append(token)
