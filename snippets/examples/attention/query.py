import torch

torch.set_printoptions(precision=2, sci_mode=False)

row = torch.tensor([2.0, 3.0, -4.0, 0.0])  # of work in the table E
position = torch.tensor([0.14, -0.99, 0.03, 1.00])  # of position 3
x_work = 2 * row + position

w_query = torch.tensor([[3.0, 0.0], [1.0, -1.0], [0.0, 1.0], [-1.0, -1.0]])
b_query = torch.tensor([-2.0, -2.0])
q_work = x_work @ w_query + b_query

print("x of work:", x_work)
print("query of work:", q_work)
