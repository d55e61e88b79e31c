import torch

from pencil_tables import head_0, head_1, x
from transformer import scaled_dot_product_attention

torch.set_printoptions(precision=2, sci_mode=False)

# (4, 4): two rows per head, the numbers of the loop
w_query = torch.cat((head_0.w_query, head_1.w_query))
w_key = torch.cat((head_0.w_key, head_1.w_key))
w_value = torch.cat((head_0.w_value, head_1.w_value))
b_query = torch.cat((head_0.b_query, head_1.b_query))


def split(rows):
    rows = rows.unflatten(-1, (2, 2))  # (5, 2, 2): word, head, number
    return rows.transpose(0, 1)  # (2, 5, 2): head, word, number


queries = x @ w_query.T + b_query  # (5, 4): both heads side by side
keys, values = x @ w_key.T, x @ w_value.T
output, weights = scaled_dot_product_attention(
    split(queries), split(keys), split(values)
)
joined = output.transpose(0, 1).flatten(1)  # (5, 4)

print("split queries:", tuple(split(queries).shape))
print("weights:", tuple(weights.shape))
print("joined:", tuple(joined.shape))
print("joined, work:", joined[3])
