from torch import nn

from transformer import TokenEmbedding

vocab_size, d_model = 37_000, 512
embedding = TokenEmbedding(vocab_size, d_model)
output = nn.Linear(d_model, vocab_size, bias=False)
table = sum(p.numel() for p in embedding.parameters())
print(f"one table: {table:,}")
print(f"three tables: {3 * table:,}")
print(f"share of 65 million: {table / 65e6:.0%}")
print("input table:", tuple(embedding.embedding.weight.shape))
print("output matrix:", tuple(output.weight.shape))
