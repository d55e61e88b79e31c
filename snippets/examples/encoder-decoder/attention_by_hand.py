import torch
from torch import tensor

x = tensor(  # why do we work ?: word vector plus position
    [
        [-6, 5, 8, -3],
        [0.84, 0.54, 0.01, 1],
        [-5.09, -8.42, 6.02, 5],
        [4.14, 5.01, -7.97, 1],
        [-0.76, -0.65, 0.04, 1],
    ]
)
W_Q = tensor([[3.0, 1, 0, -1], [0, -1, 1, -1], [-2, -1, -1, 0], [-1, 0, 1, -1]])
W_K = tensor([[2.0, -3, -1, 4], [1, -1, -1, -1], [1, -1, 0, 2], [1, 1, -2, 0]])
W_V = tensor([[0.0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, -1]])
W_O = tensor([[0.0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])
b_Q, b_O = tensor([-2.0, -2, 0, 0]), tensor([-1.0, -1, 3, -1])


def show(label, numbers):
    print(f"{label}:", *(f"{number:.2f}" for number in numbers.tolist()))


query = W_Q @ x[3] + b_Q  # of the word work
keys, values = x @ W_K.T, x @ W_V.T  # of all five words
show("query of work", query)
heads = []
for i in 0, 1:
    own = slice(2 * i, 2 * i + 2)  # the two numbers that belong to head i
    scores = keys[:, own] @ query[own] / 2**0.5
    weights = scores.softmax(dim=0)
    show(f"head {i}, scores", scores)
    show(f"head {i}, weights", weights)
    heads.append(weights @ values[:, own])
joined = torch.cat(heads)
show("values read", joined)
show("after W_O", W_O @ joined + b_O)
