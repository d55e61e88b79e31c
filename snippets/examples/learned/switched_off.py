from pathlib import Path

import torch

import corpus
import translator

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
test = corpus.translator("test")[:300]
size = trained.model.config.d_model // trained.model.config.nhead  # 24
ALL = range(4)


@torch.no_grad()
def without(heads, *attentions):
    """The fraction of correct translations without these heads."""
    modules = [trained.model.get_submodule(name) for name in attentions]
    weights = [module.output.weight for module in modules]  # W^O
    before = [weight.clone() for weight in weights]
    for weight in weights:
        for head in heads:
            weight[:, head * size : (head + 1) * size] = 0
    right = translator.exact_match(trained, test)["all"]
    for weight, old in zip(weights, before, strict=True):
        weight.copy_(old)
    return f"{right:.0%}"


print("all heads on:", without([]))
for layer in 0, 1:
    name = f"decoder.layers.{layer}.cross_attention"
    for head in ALL:
        print(f"layer {layer}, head {head} off:", without([head], name))
    print(f"layer {layer}, all heads off:", without(ALL, name))


def self_attention_off(stack):
    names = [f"{stack}.layers.{layer}.self_attention" for layer in (0, 1)]
    return without(ALL, *names)


print("encoder, self-attention off:", self_attention_off("encoder"))
print("decoder, self-attention off:", self_attention_off("decoder"))

PLAY = {"play", "plays", "played", "playing"}
test = [p for p in corpus.translator("test") if PLAY.intersection(p.source)]
name = "decoder.layers.1.cross_attention"
print("with play, layer 1, head 2 off:", without([2], name))
