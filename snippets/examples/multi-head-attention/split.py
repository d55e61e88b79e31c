import torch

from pencil_tables import head_0, head_1, x

w_query = torch.cat((head_0.w_query, head_1.w_query))  # (4, 4)
b_query = torch.cat((head_0.b_query, head_1.b_query))
queries = x @ w_query.T + b_query  # (5, 4): both heads side by side
split = queries.unflatten(-1, (2, 2))  # (5, 2, 2): word, head, number
split = split.transpose(0, 1)  # (2, 5, 2): head, word, number

for number, head in enumerate((head_0, head_1)):
    in_the_loop = x @ head.w_query.T + head.b_query
    same = torch.equal(split[number], in_the_loop)
    print(f"head {number}, the queries of the loop:", same)
