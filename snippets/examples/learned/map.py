from pathlib import Path

import torch

import translator
from translator import BOS

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)


@torch.no_grad()
def weights_of(attention, src, tgt):
    """The weights of one attention, (batch, head, query, key)."""
    inputs = []

    def keep(module, args, output):
        inputs.append(args)

    with attention.register_forward_hook(keep):
        model(src, tgt)
    return attention(*inputs[0], need_weights=True)[1]


words = ["she", "plays", "football", "at", "home"]
src = torch.tensor([source.encode(words)])
tgt = torch.tensor([[BOS, *target.encode("她在家")]])  # 踢 is next
weights = weights_of(model.decoder.layers[1].cross_attention, src, tgt)
for head, row in enumerate(weights[0, :, -1]):
    print(f"head {head}: {words[row.argmax()]} {row.max():.2f}")
