from pathlib import Path

import torch

import translator
from decode import eval_mode

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])
written = [1]  # <bos>
with eval_mode(model):
    memory = model.encode(src)
    while written[-1] != 2:  # <eos>
        x = model.decode(torch.tensor([written]), memory)
        probs, ids = model.logits(x[0, -1]).softmax(dim=-1).topk(3)
        best = [
            f"{target.tokens[i]} {p:.1%}"
            for p, i in zip(probs.tolist(), ids.tolist(), strict=True)
        ]
        print(f"step {len(written)}:", *best)
        written.append(ids[0].item())
print("written:", "".join(target.decode(written)))
