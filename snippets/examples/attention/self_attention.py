import torch

from transformer import scaled_dot_product_attention

# a row each for we, work and ?
x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
# from three numbers to two
w_query = torch.tensor([[-1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
w_key = torch.tensor([[1.0, -3.0], [-1.0, -1.0], [1.0, 3.0]])
w_value = torch.tensor([[5.0, -5.0], [-5.0, 5.0], [5.0, 5.0]])

query = x @ w_query  # (3, 2): one row per word
key = x @ w_key
value = x @ w_value
output, weights = scaled_dot_product_attention(query, key, value)
print("query of work:", query[1])
print("weights of work:", weights[1])
print("output of work:", output[1])
