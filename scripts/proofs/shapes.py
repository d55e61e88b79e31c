"""Prints every tensor of the model with its shape, and what it keeps, for the page Shapes."""

from bookbuild.reference import shape_tracer

rows = shape_tracer.symbolic()
for sizes in (shape_tracer.DISTINCT, *shape_tracer.OTHERS, shape_tracer.EXAMPLE):
    for wrong in shape_tracer.disagreements(rows, sizes):
        raise ValueError(wrong)
shown = [*shape_tracer.shown(rows)]
parameters, buffers = shape_tracer.kept(vocabulary=37000)

for symbol, size in shape_tracer.EXAMPLE.symbols().items():
    print(f"{symbol}: {size}")
print("tensors:", len(shown))
print("functions:", len({each.function for each in shown}))
print("parameters:", f"{sum(kind.numbers * kind.copies for kind in parameters):,}")
print("tensors of parameters:", sum(kind.copies for kind in parameters))
for kind, table in {"tensor": shown, "parameter": parameters, "buffer": buffers}.items():
    for row in table:
        print(kind, *row, sep="\t")
