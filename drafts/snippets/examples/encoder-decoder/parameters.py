import torch

from transformer import DecoderLayer, EncoderLayer, TransformerConfig

config = TransformerConfig(37000, 37000)
with torch.device("meta"):  # shapes only, no numbers
    layers = EncoderLayer(config), DecoderLayer(config)


def count(module):
    return sum(p.numel() for p in module.parameters())


total = 0
for layer in layers:
    name = type(layer).__name__
    for part, module in layer.named_children():
        print(f"{name}, {part}: {count(module):,}")
    print(f"{name}: {count(layer):,}")
    share = count(layer.feed_forward) / count(layer)
    print(f"{name}, share of the feed-forward network: {share:.1%}")
    print(f"six of them, {name}: {6 * count(layer):,}")
    total += 6 * count(layer)
print(f"both stacks: {total:,}")
