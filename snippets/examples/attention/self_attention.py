import math

from pencil_tables import head_0, x

w_query, b_query, w_key, w_value = head_0
query = x @ w_query.T + b_query  # (5, 2): one row per word
key = x @ w_key.T  # (5, 2)
value = x @ w_value.T  # (5, 2)

scores = query @ key.T / math.sqrt(2)  # (5, 5): a row per query
weights = scores.softmax(dim=-1)  # each row sums to 1
output = weights @ value  # (5, 2)
print("weights of work:", weights[3])
print("output of work:", output[3])
