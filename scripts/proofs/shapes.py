"""Prints every tensor of the model with its shape, and what it keeps, for the page Shapes."""

import tensors

rows = tensors.symbolic()
for sizes in (tensors.DISTINCT, *tensors.OTHERS, tensors.EXAMPLE):
    for wrong in tensors.disagreements(rows, sizes):
        raise ValueError(wrong)
shown = [*tensors.shown(rows)]
parameters, buffers = tensors.kept(vocabulary=37000)

for symbol, size in tensors.EXAMPLE.symbols().items():
    print(f"{symbol}: {size}")
print("tensors:", len(shown))
print("functions:", len({each.function for each in shown}))
print("parameters:", f"{sum(kind.numbers * kind.copies for kind in parameters):,}")
print("tensors of parameters:", sum(kind.copies for kind in parameters))
for kind, table in {"tensor": shown, "parameter": parameters, "buffer": buffers}.items():
    for row in table:
        print(kind, *row, sep="\t")
