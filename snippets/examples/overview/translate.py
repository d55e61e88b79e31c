from pathlib import Path

import torch

import translator

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
words = ["why", "do", "we", "work", "?"]
print("".join(trained.translate([words])[0]))

src = torch.tensor([trained.source.encode(words)])
written = [translator.BOS, *trained.target.encode(["我", "们"])]
probs = trained.model(src, torch.tensor([written]))[0, -1].softmax(dim=-1)
for p, i in zip(*probs.topk(3), strict=True):
    print(f"{trained.target.tokens[i]}: {p:.1%}")
