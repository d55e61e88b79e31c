from transformer import DecoderLayer, EncoderLayer, TransformerConfig


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


config = TransformerConfig(src_vocab_size=37000, tgt_vocab_size=37000)
for name, layer in (
    ("encoder", EncoderLayer(config)),
    ("decoder", DecoderLayer(config)),
):
    parts = {"attention": 0, "feed-forward": 0, "LayerNorm": 0}
    for part, module in layer.named_children():
        if part.startswith("norm"):
            parts["LayerNorm"] += count(module)
        elif part == "feed_forward":
            parts["feed-forward"] += count(module)
        else:
            parts["attention"] += count(module)
    for part, number in parts.items():
        print(f"{name} layer, {part}: {number:,}")
    share = parts["feed-forward"] / count(layer)
    print(f"{name} layer, all: {count(layer):,}")
    print(f"{name} layer, share of the feed-forward: {share:.1%}")
