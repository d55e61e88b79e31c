layers, heads, context = 61, 128, 131072

numbers = {
    name: 2 * groups * 128
    for name, groups in (
        ("multi-head", heads),
        ("8 groups", 8),
        ("multi-query", 1),
    )
}
numbers["latent"] = 512 + 64
for name, count in numbers.items():
    size = count * layers * 2  # 16 bits each
    print(f"{name}, numbers a token and layer: {count:,}")
    print(f"{name}, bytes a token: {size:,}")
    print(
        f"{name}, gigabytes for {context:,} tokens: {size * context / 1e9:.1f}"
    )

for name, layers in ("4B", 34), ("12B", 48), ("27B", 62):
    whole = layers // 6  # every sixth layer has no window
    tokens = whole * context + (layers - whole) * 1024
    part = tokens / (layers * context)
    print(f"Gemma 3 {name}, part of the cache: {part:.1%}")
