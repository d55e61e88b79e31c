import torch

import pencil_words

# A copy of the table for which gradients are computed:
table = pencil_words.table.clone().requires_grad_()
vectors = table[[2, 3]]  # we work
invented = torch.tensor([[2.0, 0.0, -2.0, 4.0], [0.0, 2.0, 0.0, -2.0]])
vectors.backward(invented)  # the gradients that arrive at the vectors
print("gradient of the table:")
print(table.grad)

with torch.no_grad():  # the step itself isn't differentiated
    table -= 0.5 * table.grad
print("table after one step:")
print(table.detach())  # without its gradient
