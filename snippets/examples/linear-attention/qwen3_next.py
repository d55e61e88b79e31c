layers, full, tokens = 48, 12, 131_072

state = 32 * 128 * 128 * 4  # heads, width of keys and of values, float32
cache = 2 * 2 * 256 * 2  # keys and values, heads, width, two bytes a number
print(f"state of a delta-rule layer, MB: {state / 1e6:.1f}")
print(f"cache of a softmax layer, kB a token: {cache / 1e3:.1f}")
print(f"tokens with the same memory: {state // cache}")

hybrid = full * cache * tokens + (layers - full) * state
print(f"three of four layers with a state, GB: {hybrid / 1e9:.1f}")
print(f"all layers with a cache, GB: {layers * cache * tokens / 1e9:.1f}")
