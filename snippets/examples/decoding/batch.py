from pathlib import Path

import torch

import translator
from decode import greedy_decode

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
sentences = [
    "forty two",
    "why do we work ?",
    "why did we not work yesterday ?",
]
src = translator.padded(
    torch.tensor(source.encode(sentence.split())) for sentence in sentences
)
written = greedy_decode(model, src, max_len=40, bos_id=1, eos_id=2)
print("source ids:", tuple(src.shape))
print("ids written:", tuple(written.shape))
for sentence, row in zip(sentences, written.tolist(), strict=True):
    print(f"{sentence}:", *[target.tokens[i] for i in row])
