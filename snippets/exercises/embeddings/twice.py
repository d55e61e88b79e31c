import torch

import pencil_words

table = pencil_words.table.clone().requires_grad_()
vectors = table[[2, 3, 2]]  # we work we
vectors.backward(torch.tensor([[1.0, 0, 0, 2], [0, 1, 0, 0], [3, 0, 2, 0]]))
print("gradient of we:", table.grad[2].tolist())
print("gradient of work:", table.grad[3].tolist())
print("we after the step:", (table - 0.5 * table.grad)[2].tolist())
