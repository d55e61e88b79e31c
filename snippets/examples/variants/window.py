from transformer import causal_mask
from variants.window import sliding_window_mask

print((sliding_window_mask(6, 3) & causal_mask(6)).int()[0, 0])
for n in 100, 1000, 4000:
    all_pairs = causal_mask(n).sum().item()
    near = (sliding_window_mask(n, 100) & causal_mask(n)).sum().item()
    print(f"{n} tokens, causal pairs: {all_pairs:,}")
    print(f"{n} tokens, of them in a window of 100: {near:,}")
    print(f"{n} tokens, share: {near / all_pairs:.1%}")
print(f"32 layers, window 4096, reach: {32 * 4095:,}")
