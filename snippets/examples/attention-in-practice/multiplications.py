d_model = 512
for n in 5, 128, 1024, 4096:
    maps = 4 * n * d_model**2  # queries, keys, values and output
    pairs = 2 * n**2 * d_model  # scores and averages, all heads together
    print(f"{n} tokens, millions of products: {(maps + pairs) / 1e6:,.0f}")
    print(f"{n} tokens, share of the pairs: {pairs / (maps + pairs):.1%}")
