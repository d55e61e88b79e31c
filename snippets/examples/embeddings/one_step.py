import torch

table = torch.tensor(
    [
        [-3.0, 2.0, 4.0, -2.0],  # why
        [0.0, 0.0, 0.0, 0.0],  # do
        [-3.0, -4.0, 3.0, 2.0],  # we
        [2.0, 3.0, -4.0, 0.0],  # work
        [0.0, 0.0, 0.0, 0.0],  # ?
    ],
    requires_grad=True,  # compute gradients for this tensor
)
vectors = table[[2, 3]]  # we work
invented = torch.tensor([[2.0, 0.0, -2.0, 4.0], [0.0, 2.0, 0.0, -2.0]])
vectors.backward(invented)  # the gradients that arrive at the vectors
print("gradient of the table:")
print(table.grad)

with torch.no_grad():  # the step itself isn't differentiated
    table -= 0.5 * table.grad
print("table after one step:")
print(table.detach())  # without its gradient
