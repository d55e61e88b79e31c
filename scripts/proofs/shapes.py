"""Prints the shape of every tensor of the model, and its parameters, for the page Shapes."""

from bookbuild.generated import shape_tracer

tensors = [*shape_tracer.tensor_rows()]
parameters, buffers = shape_tracer.parameters_and_buffers(vocabulary=37000)

for symbol, size in shape_tracer.EXAMPLE_SIZES.items():
    print(f"{symbol}: {size}")
print("tensors:", len(tensors))
print("parameters:", f"{sum(group.size * group.copies for group in parameters):,}")
print("tensors of parameters:", sum(group.copies for group in parameters))
for kind, rows in {"tensor": tensors, "parameter": parameters, "buffer": buffers}.items():
    for row in rows:
        print(kind, *row, sep="\t")
