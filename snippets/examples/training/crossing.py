from pathlib import Path

import torch

import transformer
import translator
from decode import eval_mode
from translator import BOS

seen = []


def watched(query, key, value, mask=None, dropout=0.0):
    """The attention that is written out, in the place of the fused one."""
    output, weights = transformer.scaled_dot_product_attention(
        query, key, value, mask, dropout
    )
    seen.append(weights)
    return output, None


path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
words = ["why", "do", "we", "work", "?"]
characters = list("我们为什么工作？")
src = torch.tensor([source.encode(words)])
tgt = torch.tensor([[BOS, *target.encode(characters)]])
transformer.fused_attention = watched
with eval_mode(model):
    model(src, tgt)

crossing = seen[len(model.encoder.layers) + 1 :: 2]  # behind self-attention
print("shape:", tuple(crossing[-1].shape))
for name, weights in zip(["first layer", "last layer"], crossing, strict=True):
    for i, head in enumerate(weights[0]):
        looks = [words[j] for j in head.argmax(dim=-1)]
        print(f"{name}, head {i}:", *looks)
