import torch

from transformer import TransformerConfig
from variants.marian import Marian

with torch.device("meta"):  # shapes alone, no memory
    model = Marian(
        TransformerConfig(
            src_vocab_size=65001,
            tgt_vocab_size=65001,
            max_len=512,
            pad_id=65000,
            tie_embeddings=True,
        )
    )
count = sum(p.numel() for p in model.parameters())
count += model.bias.numel()  # a buffer of our class
table = model.tgt_embedding.embedding.weight.numel()
positions = 2 * model.position.table.numel()  # one for each stack
print(f"parameters: {count:,}")
print(f"biases of the logits: {model.bias.numel():,}")
print(f"in the table of embeddings: {table / count:.0%}")
numbers = count + positions
print(f"numbers in the file: {numbers:,}")
print(f"megabytes in float32: {4 * numbers / 1e6:.0f}")
