from pathlib import Path

import torch

import translator
from numerals import to_chinese, to_english

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
words = to_english(342005).replace("-", " ").split()
characters = list(to_chinese(342005))
src = torch.tensor([source.encode(words)])  # (1, 8)
tgt = torch.tensor([[1, *target.encode(characters)]])  # <bos> first, (1, 9)
last, seen = model.get_submodule("decoder.layers.1.cross_attention"), []
last.register_forward_hook(lambda _, inputs, output: seen.append(inputs))
with torch.no_grad():
    model.eval()(src, tgt)
    _, weights = last(*seen[0], need_weights=True)  # (1, 4, 9, 8)
for character, row in zip(characters, weights[0].mean(dim=0), strict=False):
    print(f"{character}: {words[row.argmax()]} {row.max():.0%}")
