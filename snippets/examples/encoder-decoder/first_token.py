import by_hand

rows = {  # the names of its tables in the decoder layer
    "after self-attention": "norm1",
    "value": "cross_attention.heads",
    "output": "cross_attention.output",
    "sum": "norm2.sum",
    "after LayerNorm": "norm2",
    "after the network": "norm3",
}
model = by_hand.load(decimals=2)  # the pencil model
for word in "we", "they":
    target = model.translate(["why", "do", word, "work", "?"])
    tables = {
        table.name.removeprefix("decoder.layers.0."): table
        for table in model.tables
    }
    for head in 0, 1:
        weights = tables[f"cross_attention.weights.{head}"]
        weight = weights.values[0][weights.columns.index(word)]
        print(f"{word}, weight in head {head}: {weight:.2f}")
    for label, name in rows.items():
        numbers = tables[name].values[0]  # the row of <bos>
        row = ", ".join(f"{n:.2f}" for n in numbers).replace("-", "−")
        print(f"{word}, {label}: ({row})")
    print(f"{word}, first token:", target[0])
