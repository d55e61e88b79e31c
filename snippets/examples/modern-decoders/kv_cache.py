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

window = 1024
tokens = (5 * window + context) / 6
print(f"five of six layers with a window of 1024: {tokens / context:.1%}")
