from dataclasses import replace

import torch

from transformer import Transformer, TransformerConfig

d, ff, vocabulary = 512, 2048, 37000
attention = 4 * (d * d + d)
feed_forward = (d * ff + ff) + (ff * d + d)
norm = 2 * d
encoder = 6 * (attention + feed_forward + 2 * norm)
decoder = 6 * (2 * attention + feed_forward + 3 * norm)
table = vocabulary * d
print(f"by hand, untied: {3 * table + encoder + decoder:,}")
print(f"by hand, tied: {2 * table + encoder + decoder:,}")
print(f"by hand, all three as one: {table + encoder + decoder:,}")

config = TransformerConfig(src_vocab_size=vocabulary, tgt_vocab_size=vocabulary)
for name, tied in ("untied", False), ("tied", True):
    with torch.device("meta"):  # shapes, but no numbers
        model = Transformer(replace(config, tie_embeddings=tied))
    count = sum(p.numel() for p in model.parameters())
    sides = model.src_embedding, model.tgt_embedding
    tables = {side.embedding.weight for side in sides}
    without = count - sum(table.numel() for table in tables)
    print(f"by code, {name}: {count:,}")
    print(f"by code, {name}, without embeddings: {without:,}")
for name, part in model.named_children():
    print(f"{name}: {sum(p.numel() for p in part.parameters()):,}")
