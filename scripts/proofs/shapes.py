"""Prints the shape of every tensor of the model, and its parameters, for the page Shapes."""

from bookbuild.reference import shape_tracer

shapes = shape_tracer.symbolic_shapes()
for sizes in (
    shape_tracer.DISTINCT_SIZES,
    *shape_tracer.OTHER_SIZES,
    shape_tracer.EXAMPLE_SIZES,
):
    for mismatch in shape_tracer.shape_mismatches(shapes, sizes):
        raise ValueError(mismatch)
tensors = [*shape_tracer.tensor_rows(shapes)]
parameters, buffers = shape_tracer.parameters_and_buffers(vocabulary=37000)

for symbol, size in shape_tracer.EXAMPLE_SIZES.symbols().items():
    print(f"{symbol}: {size}")
print("tensors:", len(tensors))
print("functions:", len({row.function for row in tensors}))
print("parameters:", f"{sum(group.size * group.copies for group in parameters):,}")
print("tensors of parameters:", sum(group.copies for group in parameters))
for kind, rows in {"tensor": tensors, "parameter": parameters, "buffer": buffers}.items():
    for row in rows:
        print(kind, *row, sep="\t")
