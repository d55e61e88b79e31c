from pathlib import Path

import torch

import translator
from decode import greedy_decode
from translator import BOS, EOS

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
attention = model.get_submodule("decoder.layers.1.cross_attention")
words = ["she", "plays", "the", "piano", "at", "home"]
src = torch.tensor([source.encode(words)])

for switch_off in False, True:
    if switch_off:
        with torch.no_grad():  # the columns of head 2 in W^O
            attention.output.weight[:, 48:72] = 0
    ids = greedy_decode(model, src, 40, BOS, EOS)
    print("head 2 off:", switch_off, "".join(target.decode(ids[0].tolist())))
