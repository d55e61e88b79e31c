import torch

from transformer import scaled_dot_product_attention

x = torch.tensor(
    [
        [-6.00, 5.00, 8.00, -3.00],
        [0.84, 0.54, 0.01, 1.00],
        [-5.09, -8.42, 6.02, 5.00],
        [4.14, 5.01, -7.97, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
    ]
)
query_0 = [[3.0, 1.0, 0.0, -1.0], [0.0, -1.0, 1.0, -1.0]]
query_1 = [[-2.0, -1.0, -1.0, 0.0], [-1.0, 0.0, 1.0, -1.0]]
key_0 = [[2.0, -3.0, -1.0, 4.0], [1.0, -1.0, -1.0, -1.0]]
key_1 = [[1.0, -1.0, 0.0, 2.0], [1.0, 1.0, -2.0, 0.0]]
value_0 = [[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
value_1 = [[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, -1.0]]
w_query = torch.tensor(query_0 + query_1)  # (4, 4): two rows per head
w_key = torch.tensor(key_0 + key_1)
w_value = torch.tensor(value_0 + value_1)
b_query = torch.tensor([-2.0, -2.0, 0.0, 0.0])


def split(rows):
    rows = rows.unflatten(-1, (2, 2))  # (5, 2, 2): word, head, number
    return rows.transpose(0, 1)  # (2, 5, 2): head, word, number


queries = x @ w_query.T + b_query  # (5, 4): both heads side by side
keys, values = x @ w_key.T, x @ w_value.T
output, weights = scaled_dot_product_attention(
    split(queries), split(keys), split(values)
)
joined = output.transpose(0, 1).flatten(1)  # (5, 4)

print("queries:", tuple(queries.shape))
print("split queries:", tuple(split(queries).shape))
print("weights:", tuple(weights.shape))
print("averages:", tuple(output.shape))
print("joined:", tuple(joined.shape))
print("joined, work:", *(f"{number:.2f}" for number in joined[3].tolist()))

viewed = queries.view(5, 2, 2).transpose(0, 1)
print("equal to view and transpose:", torch.equal(split(queries), viewed))
