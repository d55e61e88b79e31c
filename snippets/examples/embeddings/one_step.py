import torch

import pencil_words

table = pencil_words.table.clone().requires_grad_()  # gradients are computed
vectors = table[[2, 3]]  # we work
invented = torch.tensor([[2.0, 0.0, -2.0, 4.0], [0.0, 2.0, 0.0, -2.0]])
vectors.backward(invented)  # the gradients that arrive at the vectors
print("gradient of the table:", table.grad, sep="\n")

with torch.no_grad():  # the step itself isn't differentiated
    table -= 0.5 * table.grad
print("table after one step:", table.detach(), sep="\n")
