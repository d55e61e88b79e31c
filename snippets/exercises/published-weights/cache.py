layers, kv_heads, head_dim, context = 30, 3, 64, 8192
numbers = 2 * kv_heads * head_dim * layers  # keys and values
print(f"numbers for a token: {numbers:,}")
print(f"megabytes for {context:,} tokens: {numbers * 4 * context / 1e6:.0f}")
print(f"if all nine heads had keys: {3 * numbers * 4 * context / 1e6:.0f}")
