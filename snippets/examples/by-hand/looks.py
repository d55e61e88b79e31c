import by_hand

model = by_hand.load(decimals=2)
model.translate(["why", "do", "we", "work", "?"])
tables = {table.name: table.values for table in model.tables}
attention = "encoder.layers.0.self_attention"
we, work = 2, 3  # rows
for name, numbers in (
    ("query of work", tables[f"{attention}.query"][work]),
    ("key of we", tables[f"{attention}.key"][we]),
):
    print(f"{name}, first number: {numbers[0]:.2f}")
    print(f"{name}, second number: {numbers[1]:.2f}")
scores = tables[f"{attention}.scores.0"][work]
others = [score for j, score in enumerate(scores) if j != we]
print(f"score of work with we: {scores[we]:.2f}")
print(f"largest other score of work: {max(others):.2f}")
