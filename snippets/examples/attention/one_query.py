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
w_key = torch.tensor([[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]])
w_value = torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
q_work = torch.tensor([14.43, -15.98])


def show(name, rows):
    for word, row in zip(words, rows.tolist(), strict=True):
        numbers = row if isinstance(row, list) else [row]
        print(f"{name} {word}:", *(f"{number:.2f}" for number in numbers))


keys = x @ w_key.T  # row i is w_key times x[i]
show("key of", keys)
scores = keys @ q_work  # one score per key
show("score of work with", scores)
weights = scores.softmax(dim=-1)
show("weight of", weights)
values = x @ w_value.T
show("value of", values)
output = weights @ values
print("output of work:", *(f"{number:.2f}" for number in output.tolist()))
