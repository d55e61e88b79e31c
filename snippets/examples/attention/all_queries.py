import torch

from pencil_tables import head_0, x
from pencil_words import words

w_query, b_query, w_key, w_value = head_0  # the numbers from above


def show(name, rows):
    print(name)
    for word, row in zip(words, rows.tolist(), strict=True):
        print(f"{word:>6}", *(f"{number:8.2f}" for number in row))


queries = x @ w_query + b_query  # (5, 2): a row per word
keys = x @ w_key  # (5, 2)
values = x @ w_value  # (5, 2)

scores = queries @ keys.T  # (5, 5): a row per query, a column per key
show("scores", scores)
weights = (scores / 2**0.5).softmax(dim=-1)  # each row sums to 1
show("weights", weights)
output = weights @ values  # (5, 2)
show("output", output)

one_by_one = [
    (keys @ query / 2**0.5).softmax(dim=-1) @ values for query in queries
]
same = torch.allclose(output, torch.stack(one_by_one))
print("equal to a loop over the queries:", same)
