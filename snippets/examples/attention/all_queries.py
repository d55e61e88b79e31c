import torch

words = ["why", "do", "we", "work", "?"]
x = torch.tensor(
    [
        [-6.00, 5.00, 8.00, -3.00],
        [0.84, 0.54, 0.01, 1.00],
        [-5.09, -8.42, 6.02, 5.00],
        [4.14, 5.01, -7.97, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
    ]
)
w_query = torch.tensor([[3.0, 1.0, 0.0, -1.0], [0.0, -1.0, 1.0, -1.0]])
b_query = torch.tensor([-2.0, -2.0])
w_key = torch.tensor([[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]])
w_value = torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])


def show(name, rows):
    print(name)
    for word, row in zip(words, rows.tolist(), strict=True):
        print(f"{word:>6}", *(f"{number:8.2f}" for number in row))


queries = x @ w_query.T + b_query  # (5, 2): a row per word
keys = x @ w_key.T  # (5, 2)
values = x @ w_value.T  # (5, 2)
show("queries", queries)

scores = queries @ keys.T  # (5, 5): a row per query, a column per key
show("scores", scores)
weights = scores.softmax(dim=-1)  # each row sums to 1
show("weights", weights)
output = weights @ values  # (5, 2)
show("output", output)

one_by_one = [(keys @ query).softmax(dim=-1) @ values for query in queries]
same = torch.allclose(output, torch.stack(one_by_one))
print("equal to a loop over the queries:", same)
