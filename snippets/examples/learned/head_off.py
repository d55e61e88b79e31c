from pathlib import Path

import torch

import translator
from decode import greedy_decode
from translator import BOS, EOS

path = Path(translator.__file__).with_name("translator.safetensors")
words = ["she", "plays", "the", "piano", "at", "home"]


@torch.no_grad()
def translation(heads_off):
    model, source, target = translator.load_translator(path)
    attention = model.get_submodule("decoder.layers.1.cross_attention")
    for head in heads_off:  # 24 columns of W^O
        attention.output.weight[:, 24 * head : 24 * head + 24] = 0
    src = torch.tensor([source.encode(words)])
    ids = greedy_decode(model, src, 40, BOS, EOS)
    return "".join(target.decode(ids[0].tolist()))


print("all heads on:", translation([]))
print("head 2 off:", translation([2]))
print("all four heads off:", translation([0, 1, 2, 3]))
