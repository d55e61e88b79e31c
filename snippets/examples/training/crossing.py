from pathlib import Path

import torch

import translator
from attention_weights import weights_of
from translator import BOS

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
words = ["why", "do", "we", "work", "?"]
characters = list("我们为什么工作？")
src = torch.tensor([source.encode(words)])  # (1, 5)
tgt = torch.tensor([[BOS, *target.encode(characters)]])  # (1, 9)

for layer in 0, 1:
    name = f"decoder.layers.{layer}.cross_attention"
    weights = weights_of(model, name, src, tgt)  # (1, 4, 9, 5)
    print(f"layer {layer}, writes:", *[c.rjust(3) for c in characters], "<eos>")
    for i, head in enumerate(weights[0]):
        looks = [words[j].rjust(4) for j in head.argmax(dim=-1)]
        print(f"layer {layer}, head {i}:", *looks)
