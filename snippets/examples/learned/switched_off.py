from pathlib import Path

import torch

import corpus
import translator

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
test = corpus.translator("test")[:300]
size = trained.model.config.d_model // trained.model.config.nhead  # 16


@torch.no_grad()
def without(layer, heads):
    """The fraction of correct translations without these heads."""
    name = f"decoder.layers.{layer}.cross_attention"
    weight = trained.model.get_submodule(name).output.weight  # W^O
    before = weight.clone()
    for head in heads:
        weight[:, head * size : (head + 1) * size] = 0
    right = translator.exact_match(trained, test)["all"]
    weight.copy_(before)
    return right


print(f"all heads on: {without(0, []):.0%}")
for layer in 0, 1:
    for head in range(4):
        right = without(layer, [head])
        print(f"layer {layer}, head {head} off: {right:.0%}")
    print(f"layer {layer}, all heads off: {without(layer, range(4)):.0%}")
