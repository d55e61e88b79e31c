from pathlib import Path

import torch

import corpus
import translator
from attention_weights import weights_of
from batching import example_of

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
test = corpus.translator("test")
why = [p for p in test if "why" in p.source and p.source[-1] == "?"]
print("questions with why:", len(why))
for layer in 0, 1:
    name = f"encoder.layers.{layer}.self_attention"
    looks = []
    for pair in why:
        src, tgt = example_of(trained, pair)
        weights = weights_of(trained.model, name, src[None], tgt[None, :-1])
        at = weights[0, :, len(pair.source) - 1].argmax(dim=-1)  # from ?
        looks.append(at == pair.source.index("why"))
    fractions = torch.stack(looks).float().mean(dim=0)  # (head,)
    row = [f"{fraction:.0%}" for fraction in fractions]
    print(f"layer {layer}, heads 0 to 3, from ? to why:", *row)
