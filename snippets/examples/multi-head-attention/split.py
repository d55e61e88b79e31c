import torch

from pencil_tables import head_0, head_1, x

torch.set_printoptions(precision=2, sci_mode=False)

w_query = torch.cat([head_0.w_query, head_1.w_query], dim=1)  # (4, 4)
b_query = torch.cat([head_0.b_query, head_1.b_query])
queries = x @ w_query + b_query  # (5, 4): both heads side by side
split = queries.unflatten(-1, (2, 2))  # (5, 2, 2): word, head, number
split = split.transpose(0, 1)  # (2, 5, 2): head, word, number
print("head 0, query of work:", split[0, 3])
print("head 1, query of work:", split[1, 3])
