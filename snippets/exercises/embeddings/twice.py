import torch

table = torch.zeros(4, 4)
table[1], table[3] = torch.tensor([[-3.0, -4, 3, 2], [2, 3, -4, 0]])
table.requires_grad_()
vectors = table[[1, 3, 1]]  # we work we
vectors.backward(torch.tensor([[1.0, 0, 0, 2], [0, 1, 0, 0], [3, 0, 2, 0]]))
print("gradient of we:", table.grad[1].tolist())
print("gradient of work:", table.grad[3].tolist())
print("we after the step:", (table - 0.5 * table.grad)[1].tolist())
