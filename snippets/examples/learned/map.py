from pathlib import Path

import torch

import translator
from attention_weights import weights_of
from translator import BOS

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
words = ["she", "plays", "football", "at", "home"]
src = torch.tensor([source.encode(words)])
tgt = torch.tensor([[BOS, *target.encode("她在家")]])  # 踢 is next

# the decoder's layer 1, (sentence, head, token read, word)
weights = weights_of(model, "decoder.layers.1.cross_attention", src, tgt)
for head, row in enumerate(weights[0, :, -1]):  # the step after 家
    print(f"head {head}: {words[row.argmax()]} {row.max():.2f}")
