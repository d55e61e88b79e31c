from transformer import Transformer, TransformerConfig


def count(name, d, ff, src, tgt, layers):
    attention = 4 * (d * d + d)  # W_Q, W_K, W_V, W_O with their biases
    network = (d * ff + ff) + (ff * d + d)
    norm = 2 * d  # gamma and beta
    parts = {
        "source table": src * d,
        "target table": tgt * d,
        "encoder": layers * (attention + network + 2 * norm),
        "decoder": layers * (2 * attention + network + 3 * norm),
        "output layer": tgt * d,
    }
    for part, number in parts.items():
        print(f"{name}, {part}: {number:,}")
    print(f"{name}, all: {sum(parts.values()):,}")
    stacks = parts["encoder"] + parts["decoder"]
    print(f"{name}, both stacks: {stacks:,}")
    print(f"{name}, attention: {3 * layers * attention / stacks:.0%}")
    print(f"{name}, feed-forward: {2 * layers * network / stacks:.0%}")
    print(f"{name}, one table for all three: {tgt * d + stacks:,}")


count("pencil", d=4, ff=4, src=8, tgt=10, layers=1)
count("base", d=512, ff=2048, src=37000, tgt=37000, layers=6)

config = TransformerConfig(
    src_vocab_size=8,
    tgt_vocab_size=10,
    d_model=4,
    nhead=2,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=4,
)
model = Transformer(config)
print("pencil, by PyTorch:", sum(p.numel() for p in model.parameters()))
