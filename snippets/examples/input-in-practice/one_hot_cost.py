tokens = 25_000  # in one batch of the paper, source side
vocab_size, d_model = 37_000, 512

ids = tokens * 8  # bytes, int64
one_hot = tokens * vocab_size * 4  # bytes, float32
print(f"ids: {ids / 1e6:.1f} MB")
print(f"one-hot rows: {one_hot / 1e9:.1f} GB")
print(f"multiplications: {tokens * vocab_size * d_model:,}")
print(f"numbers copied by a lookup: {tokens * d_model:,}")
