from transformer import Transformer, TransformerConfig

d, hidden, tokens, layers = 512, 2048, 37000, 6  # the base model
attention = 4 * (d * d + d)  # W_Q, W_K, W_V, W_O with their biases
network = (d * hidden + hidden) + (hidden * d + d)
norm = 2 * d  # gamma and beta
encoder = layers * (attention + network + 2 * norm)
decoder = layers * (2 * attention + network + 3 * norm)
stacks, table = encoder + decoder, tokens * d
print(f"encoder: {encoder:,}")
print(f"decoder: {decoder:,}")
print(f"attention, of both stacks: {3 * layers * attention / stacks:.0%}")
print(f"feed-forward, of both stacks: {2 * layers * network / stacks:.0%}")
print(f"one table: {table:,}")
print(f"all, with one table: {stacks + table:,}")
print(f"all, with three tables: {stacks + 3 * table:,}")

model = Transformer(TransformerConfig(tokens, tokens))
print(f"by PyTorch: {sum(p.numel() for p in model.parameters()):,}")
